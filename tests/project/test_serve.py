"""`manage.py serve` prints an address that a person can open."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from apps.portal.management.commands.serve import address_to_open


@pytest.mark.parametrize(
    ("bind", "address"),
    [
        ("127.0.0.1:9000", "http://127.0.0.1:9000"),
        ("10.0.0.5:80", "http://10.0.0.5:80"),
        ("0.0.0.0:9000", "http://127.0.0.1:9000"),
        ("[::]:9000", "http://127.0.0.1:9000"),
        (":9000", "http://127.0.0.1:9000"),
        ("[::1]:9000", "http://[::1]:9000"),
    ],
)
def test_where_we_are_told_to_listen_is_told_as_an_address_to_open(bind, address, settings):
    settings.PUBLIC_URL_AS_SAID = ""
    assert address_to_open(bind) == address


@pytest.mark.parametrize("bind", ["localhost", "8501", "unix:/run/portal.sock", ":99999", "http://h:80"])
def test_what_is_no_host_and_port_is_refused_before_anything_starts(bind):
    with pytest.raises(CommandError, match="HOST:PORT"):
        call_command("serve", bind=bind)


def test_an_address_that_is_set_is_what_people_type_wherever_we_listen(settings):
    settings.PUBLIC_URL = settings.PUBLIC_URL_AS_SAID = "https://portal.example.com"
    assert address_to_open("127.0.0.1:9000") == "https://portal.example.com"


def test_without_a_place_to_listen_people_type_the_address_of_the_settings(settings):
    settings.PUBLIC_URL, settings.PUBLIC_URL_AS_SAID = "http://127.0.0.1:8000", ""
    assert address_to_open("") == "http://127.0.0.1:8000"
