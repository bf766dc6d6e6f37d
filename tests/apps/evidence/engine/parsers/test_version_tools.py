"""Fabric manager, OFED, Ascend versions, NVSwitch firmware, DMI and package lists."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.catalogue.engine.components import component
from apps.catalogue.engine.versions import parse
from apps.environments.engine.facts import component_facts
from apps.evidence.engine import registry
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source
from tests.apps.evidence.engine.parsers import version_outputs as outputs
from tests.apps.evidence.engine.parsers.readings import read
from tests.apps.evidence.engine.test_dressed_corpus import DRESSES, NOISE, lost_only

SAMPLES = [(kind, text) for kind, texts in outputs.EVERY.items() for text in texts]
IDS = [f"{kind}-{place}" for kind, texts in outputs.EVERY.items() for place in range(len(texts))]


def codes(reading: Reading) -> set[str]:
    return {warning.code for warning in reading.warnings}


@pytest.mark.parametrize(("kind", "text"), SAMPLES, ids=IDS)
def test_each_is_told_by_its_content(kind: str, text: str) -> None:
    assert registry.recognise(Source.of_text(text)) == kind


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize(("kind", "text"), SAMPLES, ids=IDS)
def test_the_way_it_was_pasted_changes_nothing(kind: str, text: str, dress: str) -> None:
    source = Source.of_bytes(DRESSES[dress](text))
    assert registry.recognise(source) == kind
    assert registry.read(source).facts == read(text).facts


@pytest.mark.parametrize(("kind", "text"), SAMPLES, ids=IDS)
def test_every_version_of_it_is_of_a_form_that_is_understood(kind: str, text: str) -> None:
    facts = component_facts(read(text))
    assert all(parse(fact.value, component(fact.component).scheme).is_known for fact in facts)


def stated(text: str) -> set[tuple[str, str, str]]:
    return {(fact.component, fact.standing.value, fact.value) for fact in component_facts(read(text))}


def test_the_fabric_manager_states_its_version_and_its_service_its_state() -> None:
    assert stated(outputs.FABRIC_MANAGER) == {("fabric_manager", "loaded", "570.133.20")}
    assert read(outputs.FABRIC_MANAGER).facts["branch"] == "rel/gpu_drv/r570/r570_00-310"
    assert read(outputs.FABRIC_SERVICE).facts["service"] == {
        "state": "active",
        "sub_state": "running",
        "since": "Tue 2025-03-25 02:10:15 UTC",
        "loaded": "loaded",
        "enabled": "enabled",
    }
    assert stated(outputs.FABRIC_SERVICE) == set()
    assert read(outputs.FABRIC_PROPERTIES).facts["service"]["state"] == "inactive"


def test_a_fabric_manager_of_another_version_than_the_driver_says_both() -> None:
    facts = read(outputs.FABRIC_FAILED).facts
    assert facts["driver_mismatch"] == {"fabric_manager": "580.127.05", "driver": "580.120"}
    assert facts["service"]["state"] == "failed"
    assert stated(outputs.FABRIC_FAILED) == {("fabric_manager", "loaded", "580.127.05")}


def test_the_state_of_another_service_is_not_that_of_the_fabric_manager() -> None:
    other = "● nvidia-dcgm.service - DCGM\n     Active: failed (Result: exit-code) since Mon 2026-08-10\n"
    assert read(other + outputs.FABRIC_SERVICE).facts["service"]["state"] == "active"
    assert read(outputs.FABRIC_SERVICE + other).facts["service"]["state"] == "active"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (outputs.OFED_SHORT, "MLNX_OFED_LINUX-24.10-0.7.0.0"),
        (outputs.OFED_DOCA, "OFED-internal-25.01-0.6.0"),
        (outputs.OFED_LONG, "MLNX_OFED_LINUX-5.8-2.0.3.0"),
    ],
)
def test_ofed_states_its_version_word_for_word(text: str, version: str) -> None:
    assert stated(text) == {("ofed", "loaded", version)}
    assert codes(read(text)) == set()


def test_a_board_that_comes_again_is_counted_once_and_warned_of() -> None:
    whole, doubled = read(outputs.ASCEND_BOARD), read(f"{outputs.ASCEND_BOARD}\n{outputs.ASCEND_BOARD}")

    assert doubled.facts == whole.facts
    assert codes(doubled) - codes(whole) == {"repeated_device"}


def test_driver_and_firmware_of_ascend_are_told_apart_by_their_keys() -> None:
    assert stated(outputs.ASCEND) == {
        ("npu_driver", "declared", "24.1.rc3"),
        ("npu_firmware", "declared", "7.5.0.1.129"),
    }
    without_paths = "\n".join(line for line in outputs.ASCEND.split("\n") if not line.startswith("==>"))
    assert stated(without_paths) == stated(outputs.ASCEND)


def test_the_release_of_the_driver_package_goes_before_the_number_of_a_component() -> None:
    text = "Version=7.35.23\npackage_version=26.0.rc1\nascendhal_version=7.35.23\n"
    assert read(text).facts["driver"] == "26.0.rc1"


def test_boards_state_what_runs_and_how_many_have_it() -> None:
    facts = read(outputs.ASCEND_BOARD).facts
    assert facts["board_driver"] == {"25.0.rc1.1": 2}
    assert facts["board_firmware"] == {"7.7.0.1.231": 1, "7.7.0.1.220": 1}


def test_an_install_file_of_cann_states_cann() -> None:
    text = "package_name=Ascend-cann-toolkit\nversion=8.0.RC2\ninnerversion=V100R001C18\narch=aarch64\n"
    assert stated(text) == {("cann", "declared", "8.0.RC2")}


def test_nvswitches_with_different_firmware_are_named_with_their_addresses() -> None:
    reading = read(outputs.NVSWITCH_PROC)
    assert [(one["pci"], one["version"]) for one in reading.facts["switches"]] == [
        ("0000:07:00.0", "96.10.57.00.01"),
        ("0000:08:00.0", "96.10.3F.00.01"),
    ]
    assert codes(reading) == {"firmware_differs"}


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        (outputs.NVSWITCH_NVOS, {"35.2014.1482": 1}),
        (outputs.NVSWITCH_NVOS_ONE, {"35.2014.1482": 1}),
        (outputs.NVSWITCH_UPDATER, {"96.10.57.00.01": 2}),
        (outputs.NVSWITCH_REDFISH, {"96.10.57.00.01": 2}),
    ],
)
def test_switch_firmware_is_read_without_that_of_its_neighbours(text: str, versions: dict[str, int]) -> None:
    assert read(text).facts["versions"] == versions


def test_dmidecode_states_machine_board_and_no_placeholder() -> None:
    facts = read(outputs.DMIDECODE).facts
    assert (facts["system"]["serial"], facts["board"]["serial"], facts["boards"]) == (
        "SYS-77-001",
        "BRD-42-007",
        2,
    )
    assert (facts["system"]["sku"], facts["system"]["family"]) == (None, None)


@pytest.mark.parametrize(
    "placeholder", ["To be filled by O.E.M.", "Default string", "0123456789", "None", "........", "000000"]
)
def test_a_placeholder_is_no_serial_number(placeholder: str) -> None:
    reading = read(outputs.DMIDECODE.replace("BRD-42-007", placeholder))
    assert reading.facts["board"]["serial"] is None
    assert "placeholder" in codes(reading)


def test_a_riser_is_not_taken_for_the_board_of_the_machine() -> None:
    lines = outputs.DMIDECODE.split("\n")
    main = lines.index("Handle 0x0002, DMI type 2, 15 bytes")
    riser = lines.index("Handle 0x0020, DMI type 2, 15 bytes")
    reading = read("\n".join(lines[:main] + lines[riser:]))
    assert (reading.facts["board"], codes(reading)) == (None, {"main_board_missing"})


def test_files_of_the_kernel_say_the_same_and_what_was_refused_is_not_known() -> None:
    facts = read(outputs.DMI_FILES).facts
    assert (facts["system"]["serial"], facts["board"]["serial"]) == ("SYS-77-001", "BRD-42-007")
    assert stated(outputs.DMI_FILES) == {("host_bios", "loaded", "2.4b")}
    refused = read(outputs.DMI_GREP)
    assert refused.facts["board"] is None
    assert refused.facts["system"].get("serial") is None
    assert codes(refused) == {"refused"}


def test_packages_that_were_removed_are_not_installed() -> None:
    assert stated(outputs.DPKG) == {
        ("fabric_manager", "declared", "570.133.20"),
        ("dcgm", "declared", "3.3.5"),
    }
    assert read(outputs.DPKG).facts["gpu_stack"]["nvidia-fabricmanager-570"] == ["570.133.20-1"]
    assert stated(outputs.RPM) == stated(outputs.DPKG)


@pytest.mark.parametrize("end", ["570.133.2", "570."])
def test_a_version_at_the_cut_end_of_a_list_may_be_cut(end: str) -> None:
    text = outputs.DPKG[: outputs.DPKG.rindex("570.133.20-1")] + end
    assert "last_line_not_ended" in codes(read(text))


def test_two_installed_fabric_managers_are_said() -> None:
    reading = read(outputs.RPM + "nvidia-fabricmanager-580-580.126.09-1.x86_64\n")
    assert reading.facts["fabric_manager"] == ["570.133.20", "580.126.09"]
    assert "versions_differ" in codes(reading)


damaged = settings(
    max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True
)
samples = st.sampled_from(SAMPLES)
places = st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=4)


def assert_honest(kind: str, text: str, whole: str) -> None:
    """Refused, or with a warning that the whole does not have, or nothing wrong in what it states."""
    try:
        reading = registry.read(Source.of_text(text), kind=kind)
    except Unreadable as refused:
        assert "\n" not in refused.message
        return
    if not codes(reading) - codes(read(whole)):
        said = [(fact.component, fact.value) for fact in component_facts(reading)]
        true = [(fact.component, fact.value) for fact in component_facts(read(whole))]
        assert set(said) <= set(true)
        serials = {part: (reading.facts.get(part) or {}).get("serial") for part in ("system", "board")}
        assert kind != "dmi" or lost_only(serials, _serials_of(read(whole)))


def _serials_of(reading: Reading) -> dict[str, str | None]:
    return {part: (reading.facts.get(part) or {}).get("serial") for part in ("system", "board")}


@damaged
@given(sample=samples, share=st.floats(0, 1))
def test_a_cut_leaves_nothing_wrong_unsaid(sample: tuple[str, str], share: float) -> None:
    kind, text = sample
    assert_honest(kind, text[: int(len(text) * share)], text)


@damaged
@given(sample=samples, places=places, noise=st.sampled_from(NOISE))
def test_noise_between_lines_leaves_nothing_wrong_unsaid(
    sample: tuple[str, str], places: list[float], noise: str
) -> None:
    kind, text = sample
    lines = text.split("\n")
    for place in places:
        lines.insert(int(place * len(lines)), noise)
    assert_honest(kind, "\n".join(lines), text)


@damaged
@given(sample=samples, places=places)
def test_doubled_lines_leave_nothing_wrong_unsaid(sample: tuple[str, str], places: list[float]) -> None:
    kind, text = sample
    lines = text.split("\n")
    for place in places:
        number = int(place * len(lines))
        lines.insert(number, lines[number])
    assert_honest(kind, "\n".join(lines), text)


@damaged
@given(sample=samples, cut=st.tuples(st.floats(0, 1), st.floats(0, 1)), bits=st.binary(max_size=40))
def test_no_damage_does_more_than_have_it_refused(
    sample: tuple[str, str], cut: tuple[float, float], bits: bytes
) -> None:
    data = sample[1].encode()
    first, last = sorted(int(share * len(data)) for share in cut)
    source = Source.of_bytes(data[:first] + bits + data[last:])
    for kind in outputs.EVERY:
        try:
            assert registry.read(source, kind=kind).kind == kind
        except Unreadable as refused:
            assert refused.message
