"""Version schemes: what each reads, how it orders, and what must hold for any text at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.catalogue.engine.versions import (
    Form,
    Scheme,
    at_least,
    branch_of,
    compare,
    identical,
    parse,
    same_branch,
)

CANONICAL = [
    (Scheme.DOTTED_NUMERIC, "570.148.08", "570.148.08"),
    (Scheme.DOTTED_NUMERIC, "R580.95.05", "580.95.05"),
    (Scheme.DOTTED_NUMERIC, "595.80", "595.80"),
    (Scheme.DOTTED_NUMERIC, "28.43.2026 (MT_0000000834)", "28.43.2026"),
    (Scheme.DOTTED_NUMERIC, "1.12.1-cb7a7bc", "1.12.1"),
    (Scheme.CUDA, "12.8", "12.8"),
    (Scheme.CUDA, "V12.4.131", "12.4.131"),
    (Scheme.CUDA, "cuda_12.8.r12.8/compiler.35404655_0", "12.8"),
    (Scheme.CUDA, "release 12.8, V12.8.93", "12.8.93"),
    (Scheme.CUDA, "12040", "12.4"),
    (Scheme.CUDA, "9020", "9.2"),
    (Scheme.NCCL, "2.27.5-1+cuda12.9", "2.27.5"),
    (Scheme.NCCL, "2.26.2.post1", "2.26.2.post1"),
    (Scheme.NCCL, "22703", "2.27.3"),
    (Scheme.NCCL, "2.22.3-HEAD:6a2f1d9", "2.22.3"),
    (Scheme.NCCL, "2804", "2.8.4"),
    (Scheme.NCCL, "(2, 20, 5)", "2.20.5"),
    (Scheme.OFED, "24.10-0.7.0.0", "24.10-0.7.0.0"),
    (Scheme.OFED, "MLNX_OFED_LINUX-5.8-2.0.3.0:", "5.8-2.0.3.0"),
    (Scheme.KERNEL, "5.15.0-1064-azure", "5.15.0-1064-azure"),
    (Scheme.KERNEL, "4.18.0-553.22.1.el8_10.x86_64", "4.18.0-553.22.1.el8_10"),
    (Scheme.KERNEL, "6.8.0-1028-nvidia-64k", "6.8.0-1028-nvidia-64k"),
    (Scheme.VBIOS_HEX, "96.00.a5.00.01", "96.00.A5.00.01"),
    (Scheme.VBIOS_HEX, "113-D3430400-037", "113-D3430400-037"),
    (Scheme.PEP440, "2.7.0a0+git295f2ed", "2.7.0a0+git295f2ed"),
    (Scheme.RC_SUFFIX, "25.1.RC1", "25.1.RC1"),
    (Scheme.RC_SUFFIX, "8.0.RC3.alpha001", "8.0.RC3.alpha1"),
    (Scheme.RC_SUFFIX, "dtk-24.04.1", "24.4.1"),
    (Scheme.RC_SUFFIX, "23.0.6", "23.0.6"),
    (Scheme.OS_RELEASE, "Ubuntu 22.04.5 LTS (x86_64)", "Ubuntu 22.04.5"),
    (Scheme.OS_RELEASE, "Kylin Linux Advanced Server V10 (SP3)", "Kylin Linux Advanced Server 10 SP3"),
    (Scheme.OS_RELEASE, "Red Hat Enterprise Linux release 8.10 (Ootpa)", "Red Hat Enterprise Linux 8.10"),
    (Scheme.OS_RELEASE, "openEuler 22.03 (LTS-SP4)", "openEuler 22.03 SP4"),
    (Scheme.DEBIAN, "1:2.27.5-1+cuda12.9", "1:2.27.5-1+cuda12.9"),
    (Scheme.OPAQUE, "vendor  image 7", "vendor image 7"),
]


@pytest.mark.parametrize(("scheme", "raw", "canonical"), CANONICAL)
def test_each_scheme_reads_its_forms_and_keeps_the_raw_text(scheme: Scheme, raw: str, canonical: str) -> None:
    version = parse(raw, scheme)

    assert (version.form, version.canonical, version.raw) == (Form.KNOWN, canonical, raw)


UNKNOWN = [
    (Scheme.DOTTED_NUMERIC, "570.148.08-gke.3"),
    (Scheme.DOTTED_NUMERIC, "1.34.3-gke.1318000"),
    (Scheme.DOTTED_NUMERIC, "570.x"),
    (Scheme.DOTTED_NUMERIC, "570.148.08beta"),
    (Scheme.CUDA, "12041"),
    (Scheme.CUDA, "cu128"),
    (Scheme.NCCL, "2.27.5-dirty"),
    (Scheme.NCCL, "227"),
    (Scheme.OFED, "24.10"),
    (Scheme.KERNEL, "linux"),
    (Scheme.VBIOS_HEX, "96.00.G5.00.01"),
    (Scheme.PEP440, "22.04.5 LTS"),
    (Scheme.RC_SUFFIX, "25.1.RC1-internal"),
    (Scheme.OS_RELEASE, "Ubuntu"),
    (Scheme.DEBIAN, "not a version"),
    (Scheme.OPAQUE, "N/A"),
    (Scheme.OPAQUE, "registry.example/train:latest"),
    (Scheme.DOTTED_NUMERIC, "[Unknown Error]"),
    (Scheme.DOTTED_NUMERIC, "1" * 400),
    (Scheme.DOTTED_NUMERIC, "٥٧٠.١"),
]


@pytest.mark.parametrize(("scheme", "raw"), UNKNOWN)
def test_an_unknown_form_equals_nothing_not_even_itself(scheme: Scheme, raw: str) -> None:
    version = parse(raw, scheme)

    assert version.form is Form.UNKNOWN
    assert version.raw == raw
    assert compare(version, version) is None
    assert identical(version, version) is None
    assert at_least(version, version) is None


ORDERED = [
    (Scheme.DOTTED_NUMERIC, ["535.54.03", "570.26", "570.124.06", "570.148.08", "580.65.06", "595.80"]),
    (Scheme.CUDA, ["9020", "11.8", "12040", "12.8", "12.8.93", "13.0"]),
    (Scheme.NCCL, ["2804", "2.9.6", "2.20.5", "22703", "2.27.5-1+cuda12.9", "2.27.5.post1", "2.28.9"]),
    (Scheme.DEBIAN, ["1.0~rc1-1", "1.0-1", "1.0-1ubuntu2", "1.0a-1", "1.0+b-1", "1.10-1", "1:0.1-1"]),
    (Scheme.KERNEL, ["5.15.0-89-generic", "5.15.0-107-generic", "6.8.0-60-generic"]),
    (Scheme.OFED, ["MLNX_OFED_LINUX-5.8-2.0.3.0", "23.10-0.5.5.0", "24.10-0.7.0.0", "24.10-1.1.4.0"]),
    (Scheme.PEP440, ["2.7.0a0+git295f2ed", "2.7.0rc1", "2.7.0", "2.7.1.dev20250724", "2.7.1", "2.10.0"]),
    (Scheme.RC_SUFFIX, ["8.0.RC3.alpha001", "8.0.RC3", "8.0.RC3.10", "8.0.0", "8.2.RC1", "8.2.RC2", "8.2"]),
    (Scheme.OS_RELEASE, ["Ubuntu 20.04.6 LTS", "Ubuntu 22.04.2 LTS (x86_64)", "Ubuntu 22.04.5 LTS"]),
    (Scheme.OS_RELEASE, ["Kylin V10", "Kylin V10 SP2", "Kylin V10 (SP3)", "Kylin V11"]),
]


@pytest.mark.parametrize(("scheme", "texts"), ORDERED)
def test_older_versions_come_first(scheme: Scheme, texts: list[str]) -> None:
    versions = [parse(text, scheme) for text in texts]

    for index, left in enumerate(versions):
        for right in versions[index + 1 :]:
            assert (compare(left, right), compare(right, left)) == (-1, 1), (left.raw, right.raw)


EQUAL = [
    (Scheme.CUDA, "12.8", "12.8.0"),
    (Scheme.CUDA, "12040", "12.4"),
    (Scheme.NCCL, "22703", "2.27.3"),
    (Scheme.NCCL, "2.27.5-1+cuda12.9", "2.27.5"),
    (Scheme.DOTTED_NUMERIC, "570.148.08", "570.148.08"),
    (Scheme.PEP440, "2.8.0+cu128", "2.8.0"),
    (Scheme.RC_SUFFIX, "CANN-8.2.RC1", "8.2.rc1"),
    (Scheme.OS_RELEASE, "Ubuntu 22.04.5 LTS (aarch64)", "Ubuntu 22.04.5"),
    (Scheme.KERNEL, "4.18.0-553.el8.x86_64", "4.18.0-553.el8"),
]


@pytest.mark.parametrize(("scheme", "left", "right"), EQUAL)
def test_two_ways_of_writing_one_version_are_identical(scheme: Scheme, left: str, right: str) -> None:
    assert compare(parse(left, scheme), parse(right, scheme)) == 0
    assert identical(parse(left, scheme), parse(right, scheme)) is True


CONTRADICTING = [
    (Scheme.PEP440, "2.8.0+cu128", "2.8.0+cu126"),
    (Scheme.NCCL, "2.27.5+cuda12.9", "2.27.5+cuda13.0"),
    (Scheme.NCCL, "2.27.5-1+cuda12.9", "2.27.5-2+cuda12.9"),
    (Scheme.DOTTED_NUMERIC, "28.43.2026 (MT_0000000834)", "28.43.2026 (MT_0000000838)"),
    (Scheme.VBIOS_HEX, "96.00.A5.00.01", "96.00.A5.00.02"),
    (Scheme.OS_RELEASE, "Ubuntu 22.04", "Debian 22.04"),
    (Scheme.KERNEL, "6.8.0-1021-nvidia", "6.8.0-1021-azure"),
]


@pytest.mark.parametrize(("scheme", "left", "right"), CONTRADICTING)
def test_what_stands_beside_the_version_can_contradict(scheme: Scheme, left: str, right: str) -> None:
    assert identical(parse(left, scheme), parse(right, scheme)) is False


INCOMPARABLE = [
    (Scheme.VBIOS_HEX, "96.00.A5.00.01", "96.00.A5.00.02"),
    (Scheme.OPAQUE, "image-7", "image-8"),
    (Scheme.KERNEL, "6.8.0-60-generic", "6.8.0-1021-nvidia"),
    (Scheme.OS_RELEASE, "Ubuntu 22.04", "Kylin V10"),
]


@pytest.mark.parametrize(("scheme", "left", "right"), INCOMPARABLE)
def test_what_has_no_order_is_neither_older_nor_newer(scheme: Scheme, left: str, right: str) -> None:
    assert compare(parse(left, scheme), parse(right, scheme)) is None


def test_two_schemes_are_never_compared() -> None:
    assert compare(parse("12.8", Scheme.CUDA), parse("12.8", Scheme.DOTTED_NUMERIC)) is None
    assert same_branch(parse("12.8", Scheme.CUDA), parse("12.8", Scheme.DOTTED_NUMERIC)) is None


def test_a_floor_without_a_build_is_met_by_every_build_of_that_version() -> None:
    floor = parse("5.15", Scheme.KERNEL)

    assert at_least(parse("5.15.0-1064-azure", Scheme.KERNEL), floor) is True
    assert at_least(parse("5.14.0-427.el9", Scheme.KERNEL), floor) is False
    assert at_least(parse("6.8.0-60-generic", Scheme.KERNEL), floor) is True


@pytest.mark.parametrize(
    ("scheme", "raw", "depth", "branch"),
    [
        (Scheme.DOTTED_NUMERIC, "570.148.08", None, (570,)),
        (Scheme.DOTTED_NUMERIC, "28.43.2026", 2, (28, 43)),
        (Scheme.NCCL, "22703", None, (2, 27)),
        (Scheme.CUDA, "12.8.93", None, (12, 8)),
        (Scheme.PEP440, "2.8.0+cu128", None, (2, 8)),
        (Scheme.KERNEL, "5.15.0-1064-azure", None, (5, 15)),
        (Scheme.RC_SUFFIX, "25.1.RC1", None, (25, 1)),
        (Scheme.OS_RELEASE, "Kylin V10", None, (10, 0)),
        (Scheme.VBIOS_HEX, "96.00.A5.00.01", None, None),
        (Scheme.OPAQUE, "image-7", None, None),
    ],
)
def test_a_branch_is_the_leading_numbers(
    scheme: Scheme, raw: str, depth: int | None, branch: tuple[int, ...] | None
) -> None:
    assert branch_of(parse(raw, scheme), depth) == branch


def test_the_same_branch_needs_the_same_distribution() -> None:
    ubuntu, older = parse("Ubuntu 22.04.5 LTS", Scheme.OS_RELEASE), parse("Ubuntu 22.04.1", Scheme.OS_RELEASE)

    assert same_branch(ubuntu, older) is True
    assert same_branch(ubuntu, parse("Mint 22.04", Scheme.OS_RELEASE)) is False
    assert same_branch(parse("image-7", Scheme.OPAQUE), parse("image-7", Scheme.OPAQUE)) is None


_SAMPLES = sorted({raw for _, raw, _ in CANONICAL} | {raw for _, texts in ORDERED for raw in texts})
_PIECES = st.lists(
    st.sampled_from(
        [".", "-", "+", "~", "rc", "RC", "a", "v", "cuda", "0", "1", "2", "08", "10", "12", "570"]
    ),
    min_size=1,
    max_size=9,
).map("".join)
_TEXTS = st.one_of(st.sampled_from(_SAMPLES), _PIECES, st.text(max_size=20))
_SCHEMES = st.sampled_from(list(Scheme))


@given(_TEXTS, _TEXTS, _SCHEMES)
def test_comparison_is_antisymmetric(left_text: str, right_text: str, scheme: Scheme) -> None:
    left, right = parse(left_text, scheme), parse(right_text, scheme)
    forward, backward = compare(left, right), compare(right, left)

    assert forward == (None if backward is None else -backward)


@given(_TEXTS, _TEXTS, _TEXTS, _SCHEMES)
def test_comparison_is_transitive(first: str, second: str, third: str, scheme: Scheme) -> None:
    one, two, three = (parse(text, scheme) for text in (first, second, third))
    low, high = compare(one, two), compare(two, three)

    if low is not None and high is not None and low <= 0 and high <= 0:
        whole = compare(one, three)
        assert whole is not None
        assert whole <= 0
        assert (whole == 0) == (low == 0 and high == 0)


@given(_TEXTS, _SCHEMES)
def test_any_text_is_read_without_an_error_and_the_raw_text_stays(text: str, scheme: Scheme) -> None:
    version = parse(text, scheme)

    assert version.raw == text
    assert compare(version, version) == (0 if version.is_known else None)


@given(_TEXTS, _SCHEMES)
def test_the_canonical_text_is_the_same_version(text: str, scheme: Scheme) -> None:
    version = parse(text, scheme)

    if version.is_known:
        assert compare(version, parse(version.canonical, scheme)) == 0
