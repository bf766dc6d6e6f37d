"""Typed readers of environment variables: what they take, and how they refuse the rest."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from supernode_portal import env


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch):
    """Set the variable X for the test."""
    monkeypatch.delenv("X", raising=False)
    monkeypatch.delenv("X_FILE", raising=False)
    return lambda value: monkeypatch.setenv("X", value)


@pytest.mark.parametrize(
    ("raw", "value"),
    [("1", True), ("Yes", True), (" on ", True), ("true", True), ("0", False), ("OFF", False), ("", True)],
)
def test_a_flag_takes_the_usual_words_and_empty_is_the_default(given, raw, value):
    given(raw)
    assert env.flag("X", True) is value


@pytest.mark.parametrize(
    ("read", "raw", "message"),
    [
        (lambda: env.flag("X", False), "maybe", "X='maybe': say 1 or 0"),
        (lambda: env.integer("X", 5, at_least=1, at_most=9), "many", "X='many': say a whole number"),
        (lambda: env.integer("X", 5, at_least=1, at_most=9), "3.5", "X='3.5': say a whole number"),
        (lambda: env.integer("X", 5, at_least=1, at_most=9), "10", "X=10: say a number from 1 to 9"),
        (lambda: env.integer("X", 5, at_least=1, at_most=9), "-1", "X=-1: say a number from 1 to 9"),
        (lambda: env.choice("X", "a", ("a", "b")), "c", "X='c': say one of a, b"),
        (lambda: env.origin("X", "http://h"), "portal.example.com", "such as https://portal.example.com"),
        (
            lambda: env.origin("X", "http://h"),
            "ftp://portal.example.com",
            "such as https://portal.example.com",
        ),
        (lambda: env.origin("X", "http://h"), "https://portal.example.com/sub", "such as https://"),
        (lambda: env.origin("X", "http://h"), "https://portal.example.com:many", "such as https://"),
        (lambda: env.hosts_and_networks("X"), "10.0.0.0/8,a b", "X: 'a b' is neither a network nor a host"),
        (lambda: env.ed25519_key("X"), "nonsense", "X: say an Ed25519 private key in PEM"),
        (lambda: env.redis("X"), "amqp://h", "X: say redis://HOST:PORT/0"),
        (lambda: env.database("X", ""), "mysql://h/db", "X: say sqlite:///PATH or postgresql://"),
        (lambda: env.database("X", ""), "sqlite://", "X: say sqlite:///relative.sqlite3"),
        (lambda: env.database("X", ""), "postgresql://h:many/db", "X: the port is not a number"),
        (lambda: env.database("X", ""), "postgresql://h:5432/", "X: name the database"),
    ],
)
def test_an_odd_value_is_refused_with_the_name_of_the_variable_and_what_is_right(given, read, raw, message):
    given(raw)
    with pytest.raises(ImproperlyConfigured) as refused:
        read()
    assert message in str(refused.value)
    assert str(refused.value).startswith("X")


def test_a_refused_database_address_is_not_repeated_because_it_holds_a_password(given):
    given("mysql://portal:hunter2@h/db")
    with pytest.raises(ImproperlyConfigured) as refused:
        env.database("X", "")
    assert "hunter2" not in str(refused.value)


def test_a_value_may_come_from_a_file_without_its_line_end(given, monkeypatch, tmp_path):
    path = tmp_path / "secret"
    path.write_text("from the file\n", encoding="utf-8")
    monkeypatch.setenv("X_FILE", str(path))
    assert env.text("X") == "from the file"


def test_a_value_cannot_come_from_both(given, monkeypatch, tmp_path):
    given("here")
    monkeypatch.setenv("X_FILE", str(tmp_path / "secret"))
    with pytest.raises(ImproperlyConfigured, match="X and X_FILE are both set"):
        env.text("X")


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_stops_the_start(given, monkeypatch, tmp_path, content):
    path = tmp_path / "secret"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setenv("X_FILE", str(path))
    with pytest.raises(ImproperlyConfigured, match=r"X_FILE: .*secret cannot be read"):
        env.text("X")


def test_a_list_is_separated_by_commas(given):
    given(" a, b ,,c")
    assert env.listing("X") == ["a", "b", "c"]


def test_a_sqlite_address_names_a_relative_or_an_absolute_file(given):
    given("sqlite:///data/a%20b.sqlite3")
    assert env.database("X", "")["NAME"] == "data/a b.sqlite3"
    given("sqlite:////srv/portal.sqlite3")
    assert env.database("X", "")["NAME"] == "/srv/portal.sqlite3"


def test_a_postgresql_address_is_decoded_part_by_part(given):
    given("postgresql://po%40rtal:p%2Fw@db.internal:6432/portal?sslmode=require")
    assert env.database("X", "") == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "portal",
        "USER": "po@rtal",
        "PASSWORD": "p/w",
        "HOST": "db.internal",
        "PORT": "6432",
        "OPTIONS": {"sslmode": "require"},
    }
