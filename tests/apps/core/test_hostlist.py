"""Slurm's host lists expand as Slurm expands them, and fold back to the same names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.hostlist import HostListError, expand, fold


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("login1", ["login1"]),
        ("sn[01-03,05]", ["sn01", "sn02", "sn03", "sn05"]),
        ("n[8-11]", ["n8", "n9", "n10", "n11"]),
        ("n[08-11]", ["n08", "n09", "n10", "n11"]),
        ("n[099-101]", ["n099", "n100", "n101"]),
        ("n[1,01,001]", ["n1", "n01", "n001"]),
        ("a1, b[1-2] ,c", ["a1", "b1", "b2", "c"]),
        ("r[1-2]n[01-02]", ["r1n01", "r1n02", "r2n01", "r2n02"]),
        ("r[1-2]-ib", ["r1-ib", "r2-ib"]),
        ("switch.1.[9-10]", ["switch.1.9", "switch.1.10"]),
        ("a,a", ["a", "a"]),
    ],
)
def test_a_list_expands_in_its_order(text: str, names: list[str]) -> None:
    assert expand(text) == names


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("n[01-", 2),
        ("n01-03]", 7),
        ("n[[1]]", 3),
        ("n[1-x]", 3),
        ("n[1,,2]", 5),
        ("n[]", 3),
        ("n[1,5-3]", 5),
        ("n[1-018]", 3),
        ("a,,b", 3),
        ("a,", 3),
        ("a b", 2),
        ("n[1234567890123456789]", 3),
    ],
)
def test_a_fault_is_named_with_its_position(text: str, position: int) -> None:
    with pytest.raises(HostListError) as refused:
        expand(text)
    assert (refused.value.code, refused.value.fields["position"]) == ("bad_host_list", position)


@pytest.mark.parametrize(
    "text",
    [
        "n[1-999999999]",
        "a[1-1000]b[1-1000]c[1-1000]",
        ",".join(["n[1-60000]"] * 2),
        "n[0-100000]",
        "n" + "[0-99999]" * 5000,
    ],
)
def test_a_bomb_is_refused_before_it_goes_off(text: str) -> None:
    with pytest.raises(HostListError) as refused:
        expand(text)
    assert refused.value.code == "too_many_names"


def test_the_limit_counts_all_names_of_the_text() -> None:
    assert len(expand("n[1-4],m[1-4]", limit=8)) == 8
    with pytest.raises(HostListError) as refused:
        expand("n[1-4],m[1-4]", limit=7)
    assert (refused.value.code, refused.value.fields["position"]) == ("too_many_names", 10)


def test_a_name_that_no_system_takes_is_refused() -> None:
    with pytest.raises(HostListError, match="longer than 255"):
        expand("x" * 300 + "[1-99999]")


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["login1"], "login1"),
        (["sn01", "sn02", "sn03", "sn05"], "sn[01-03,05]"),
        (["n9", "n10"], "n[9-10]"),
        (["n09", "n10", "n1"], "n[09-10,1]"),
        (["r1n1", "r1n2", "r2n1"], "r1n[1-2],r2n1"),
        (["b", "a2", "a1"], "b,a[2,1]"),
        (["7", "8"], "[7-8]"),
    ],
)
def test_folding_keeps_the_order_and_the_padding(names: list[str], text: str) -> None:
    assert fold(names) == text


@pytest.mark.parametrize("name", ["", "a b", "a,b", "a[1]", "a\n"])
def test_a_name_that_would_read_as_several_is_not_folded(name: str) -> None:
    with pytest.raises(HostListError):
        fold([name])


_PART = st.text(alphabet="ab-_.", max_size=3)
_NUMBER = st.from_regex(r"[0-9]{0,4}", fullmatch=True)
_NAME = st.builds("{}{}{}{}".format, _PART, _NUMBER, _PART, _NUMBER).filter(bool)


@given(st.lists(_NAME, max_size=30))
def test_expanding_what_was_folded_gives_the_names_back(names: list[str]) -> None:
    assert expand(fold(names)) == names


@given(st.integers(0, 2000), st.integers(0, 300), st.integers(1, 6))
def test_a_run_of_numbers_folds_to_one_group(first: int, more: int, width: int) -> None:
    names = [f"gpu{str(number).zfill(width)}" for number in range(first, first + more + 1)]
    text = fold(names)
    assert text.count("gpu") == 1
    assert expand(text) == names


@given(st.text(alphabet="ab01-9,[] \t", max_size=40))
def test_any_text_expands_or_is_refused_with_a_position(text: str) -> None:
    try:
        names = expand(text, limit=1000)
    except HostListError as refused:
        assert 1 <= refused.fields["position"] <= len(text) + 1
    else:
        assert expand(fold(names)) == names
