"""Health figures in readings: one number about one device, under the name that the rules use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.evidence.engine.pci import pci_address
from apps.evidence.engine.reading import Reading
from apps.health.engine.actions import action_of_recovery


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One figure. device: bus address, index or port name; empty for the whole node.

    value: in the unit of the rule (°C, share, count, or 1 and 0 for yes and no). detail: words of the tool.
    """

    name: str
    device: str
    value: float
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltLink:
    """What one NVLink of a node's GPUs carries one way as built. part: a word of their name, such as h100."""

    part: str
    bytes_per_s: float


def signals_in(reading: Reading, *, link: BuiltLink | None = None) -> tuple[Signal, ...]:
    """The health figures of a reading; what it does not state gives no signal, which is not health.

    link: as the node's registered model is built; None where that is not known.
    """
    if reading.kind == NVLINK:
        return tuple(_from_nvlink(reading.facts, link))
    reader = _READERS.get(reading.kind)
    return tuple(reader(reading.facts)) if reader else ()


_GPU_FIGURES = {
    "temperature_c": "gpu_temperature_c",
    "memory_temperature_c": "memory_temperature_c",
    "remapped_rows_failure": "row_remap_failed",
    "remapped_rows_pending": "row_remap_pending",
    "remapped_rows_uncorrectable": "remapped_rows_uncorrectable",
    "retired_pages_pending": "retired_pages_pending",
    "pcie_replays": "pcie_replays",
    "ecc_volatile_uncorrected": "ecc_uncorrectable",
    "sram_threshold_exceeded": "sram_threshold_exceeded",
    "unrepairable_memory": "unrepairable_memory",
    "channel_repair_pending": "memory_repair_pending",
    "tpc_repair_pending": "memory_repair_pending",
}
DCGM_METRICS = {
    "DCGM_FI_DEV_GPU_TEMP": "gpu_temperature_c",
    "DCGM_FI_DEV_MEMORY_TEMP": "memory_temperature_c",
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": "row_remap_failed",
    "DCGM_FI_DEV_ROW_REMAP_PENDING": "row_remap_pending",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": "remapped_rows_uncorrectable",
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": "ecc_uncorrectable",
    "DCGM_FI_DEV_RETIRED_PENDING": "retired_pages_pending",
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": "pcie_replays",
    "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": "nvlink_errors",
    "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL": "nvlink_errors",
    "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL": "nvlink_errors",
    "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL": "nvlink_errors",
    "DCGM_FI_DEV_XID_ERRORS": "last_xid",
}
# Of these a share is made: the figure, and the one that it is held against (the first that is there).
DCGM_SHARES = {
    "pcie_width_share": ("DCGM_FI_DEV_PCIE_LINK_WIDTH", ("DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH",)),
    "power_share": (
        "DCGM_FI_DEV_POWER_USAGE",
        ("DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "DCGM_FI_DEV_POWER_MGMT_LIMIT"),
    ),
}
# Counters of `nvidia-smi nvlink -e` that a sound link leaves at zero. Symbol errors and those that forward
# error correction mends are normal on fast links; so is a recovery that went well.
_NVLINK_ERRORS = frozenset(
    {
        "replay",
        "recovery",
        "crc",
        "flit_crc",
        "data_crc",
        "crc_flit",
        "crc_data",
        "malformed_packet",
        "buffer_overrun",
        "rx",
        "rx_remote",
        "rx_general",
        "local_link_integrity",
        "effective",
        "link_recovery_failed_events",
    }
)
NVLINK = "nvidia_smi_nvlink"
_AS_BUILT = 0.95  # of the catalogue's rate is as good as all of it: rounding
_CHANGING = frozenset({"activating", "deactivating", "reloading"})
_NPU_LEVELS = {"OK": 0, "WARNING": 1, "ALARM": 2, "CRITICAL": 3}


def _from_gpu_report(facts: Mapping[str, Any]) -> Iterator[Signal]:
    gpus: Sequence[Mapping[str, Any]] = facts.get("gpus") or ()
    silent = facts.get("gpus_not_answering") or ()
    attached, listed = facts.get("attached_gpus"), facts.get("gpus_listed")
    version, said = facts.get("driver_version"), facts.get("driver_error")
    if version or said:
        detail = str(said or version)
        yield Signal(name="driver_not_answering", device="", value=float(bool(said)), detail=detail)
    if silent:
        yield Signal(name="gpus_missing", device="", value=len(silent), detail=", ".join(map(str, silent)))
    elif attached is not None and attached == listed:
        # Fewer may be listed because only some were asked for (-i): nothing is said then.
        yield Signal(name="gpus_missing", device="", value=0, detail=f"{listed} / {attached}")
    for gpu in gpus:
        yield from _from_gpu(gpu)


def _from_gpu(gpu: Mapping[str, Any]) -> Iterator[Signal]:
    device = str(gpu.get("bus_id") or gpu.get("uuid") or "")
    for field, name in _GPU_FIGURES.items():
        if gpu.get(field) is not None:
            yield Signal(name=name, device=device, value=float(gpu[field]))
    yield from _share(
        device, "pcie_width_share", gpu.get("pcie_width_current"), gpu.get("pcie_width_max"), "x"
    )
    yield from _share(device, "power_share", gpu.get("power_w"), gpu.get("power_limit_w"), " W")
    state, status = gpu.get("fabric_state"), gpu.get("fabric_status")
    if state not in (None, "N/A", "Not Supported"):
        ready = state == "Completed" and status in (None, "Success", "N/A")
        detail = f"{state}/{status}" if status else str(state)
        yield Signal(name="fabric_not_ready", device=device, value=float(not ready), detail=detail)
    asked = gpu.get("recovery_action")
    if asked:
        needs = action_of_recovery(str(asked)) not in ("none", "")
        yield Signal(name="recovery_asked", device=device, value=float(needs), detail=str(asked))


def _share(device: str, name: str, part: float | None, whole: float | None, unit: str) -> Iterator[Signal]:
    if part is not None and whole:
        detail = f"{part:g}{unit} / {whole:g}{unit}"
        yield Signal(name=name, device=device, value=part / whole, detail=detail)


def _from_nvlink(facts: Mapping[str, Any], link: BuiltLink | None) -> Iterator[Signal]:
    links: Sequence[Mapping[str, Any]] = [
        gpu for gpu in facts.get("links") or () if gpu.get("supported", True)
    ]
    down_whole = set(facts.get("gpus_all_links_inactive") or ())
    speeds = [speed for gpu in links for speed in _speeds(gpu)]
    due = _due_speed(max(speeds, default=0), facts, link)
    most = max((len(_speeds(gpu)) for gpu in links), default=0)
    for gpu in links:
        device, own, errors = f"GPU {gpu.get('index')}", _speeds(gpu), gpu.get("errors")
        inactive = len(gpu.get("inactive") or ())
        # A list of error counters alone says nothing of which links run.
        if own or inactive or gpu.get("index") in down_whole or (most and not errors):
            # A GPU that prints no link at all is measured against the GPU of the node that has most.
            down = max(inactive, most - len(own), int(not own))
            detail = f"{len(own)} / {max(most, down)}"
            yield Signal(name="nvlink_inactive_links", device=device, value=down, detail=detail)
        if own and due:
            yield from _share(device, "nvlink_speed_share", min(own) / 1e9, due / 1e9, " GB/s")
        if errors:
            yield from _nvlink_errors(device, errors)


def _due_speed(fastest: float, facts: Mapping[str, Any], link: BuiltLink | None) -> float:
    """What each link should carry one way: as the fastest of the node, or as built where all are slower.

    Tools print the rate on the wire, which is a little above what a data sheet says, or rounded. Where the GPUs call
    themselves otherwise than the part that is registered, nothing is known of how they are built.
    """
    if link is None or link.part not in str(facts.get("model")).casefold():
        return fastest
    return link.bytes_per_s if fastest < _AS_BUILT * link.bytes_per_s else fastest


def _speeds(gpu: Mapping[str, Any]) -> list[float]:
    return list((gpu.get("unidirectional_bytes_per_s") or {}).values())


def _nvlink_errors(device: str, errors: Mapping[str, Mapping[str, float]]) -> Iterator[Signal]:
    """The sum over the links of a GPU, with the links that have any; packets and bit error rates are no errors."""
    by_link = {
        link: sum(count for name, count in counters.items() if name in _NVLINK_ERRORS)
        for link, counters in errors.items()
        if not _NVLINK_ERRORS.isdisjoint(counters)
    }
    if by_link:
        bad = [link for link, count in by_link.items() if count]
        detail = ", ".join(f"NVLink {link}" for link in bad)
        yield Signal(name="nvlink_errors", device=device, value=float(sum(by_link.values())), detail=detail)


def _from_dcgm_metrics(facts: Mapping[str, Any]) -> Iterator[Signal]:
    for gpu in facts.get("by_gpu") or ():
        named = str(gpu.get("pci") or gpu.get("uuid") or gpu.get("gpu") or "")
        device = pci_address(named) or named
        known = [
            (_plain_metric(str(sample.get("metric"))), sample)
            for sample in gpu.get("samples") or ()
            if sample.get("value") is not None and not sample.get("mig_instance")
        ]
        yield from _dcgm_figures(device, known)
        values = {metric: float(sample["value"]) for metric, sample in known}
        for name, (part, wholes) in DCGM_SHARES.items():
            whole = next((values[key] for key in map(_plain_metric, wholes) if key in values), None)
            yield from _share(device, name, values.get(_plain_metric(part)), whole, "")


def _plain_metric(name: str) -> str:
    """The name as exporters of all ages share it: without front, and without _TOTAL, which some leave out."""
    return name.upper().removeprefix("DCGM_").removeprefix("FI_DEV_").removesuffix("_TOTAL")


_PLAIN_METRICS = {_plain_metric(name): signal for name, signal in DCGM_METRICS.items()}


def _dcgm_signal(metric: str) -> str | None:
    """The signal of a plain name. Counters of NVLink errors have other names with each generation."""
    is_error = metric.startswith("NVLINK_") and ("ERROR" in metric or "RECOVERY_FAILED" in metric)
    if is_error and not any(word in metric for word in ("SYMBOL", "BER", "FEC")):
        return "nvlink_errors"
    return _PLAIN_METRICS.get(metric)


def _dcgm_figures(device: str, known: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[Signal]:
    """One figure for each signal: the sum of error counters over links and kinds, else the worst."""
    found: dict[str, list[tuple[float, str]]] = {}
    for metric, sample in known:
        if name := _dcgm_signal(metric):
            found.setdefault(name, []).append((float(sample["value"]), str(sample["metric"])))
    for name, counts in found.items():
        worst, detail = max(counts)
        value = sum(count for count, _metric in counts) if name == "nvlink_errors" else worst
        yield Signal(name=name, device=device, value=value, detail=detail)


def _from_diagnostic(facts: Mapping[str, Any]) -> Iterator[Signal]:
    """Whether each test failed or warned; one that was skipped in all places says nothing."""
    statuses: dict[str, set[str]] = {}
    for run in facts.get("details") or facts.get("runs") or [facts]:
        for result in run.get("results") or ():
            statuses.setdefault(str(result.get("test")), set()).add(str(result.get("status")).casefold())
    for test, words in statuses.items():
        if words & {"pass", "fail", "warn"}:
            detail = ", ".join(sorted(words))
            yield Signal(name="diagnostic_failed", device=test, value=float("fail" in words), detail=detail)
            yield Signal(name="diagnostic_warned", device=test, value=float("warn" in words), detail=detail)


def _from_ports(facts: Mapping[str, Any]) -> Iterator[Signal]:
    """Whether ports are up, and as fast as the fastest of their like: adapters of one type on one kind of network.

    A storage adapter of 100 Gbit/s beside rails of 400 is no slow port.
    """
    types = {str(one.get("name")): one.get("type") for one in facts.get("devices") or ()}
    ports: Sequence[Mapping[str, Any]] = facts.get("ports") or ()
    active = [port for port in ports if str(port.get("state")).casefold() == "active"]
    fastest: dict[tuple[str, str], float] = {}
    for port in active:
        like = str(port.get("link_layer")), str(types.get(str(port.get("device"))))
        fastest[like] = max(fastest.get(like, 0), float(port.get("rate_gbps") or 0))
    for port in ports:
        device = f"{port.get('device')}/{port.get('port')}"
        physical = str(port.get("physical_state") or "")
        if physical.casefold() == "disabled":
            continue  # switched off by an administrator
        is_down = port not in active
        yield Signal(name="port_down", device=device, value=float(is_down), detail=physical)
        best = fastest.get((str(port.get("link_layer")), str(types.get(str(port.get("device"))))), 0)
        if not is_down and best and port.get("rate_gbps"):
            yield from _share(device, "port_rate_share", float(port["rate_gbps"]), best, " Gbit/s")


def _from_optics(facts: Mapping[str, Any]) -> Iterator[Signal]:
    """How far the weakest lane of a transceiver is above the least that its maker allows, in dB."""
    for place, module in enumerate(facts.get("modules") or ()):
        device = str(module.get("device") or module.get("serial") or place)
        margins = [
            (dbm - module[f"{way}_low_dbm"], f"{way} {dbm:g} dBm")
            for way in ("rx", "tx")
            for dbm in module.get(f"{way}_dbm") or ()
            if module.get(f"{way}_low_dbm") is not None
        ]
        if margins:
            margin, weakest = min(margins)
            yield Signal(name="optical_margin_db", device=device, value=margin, detail=weakest)


def _from_fabric_manager(facts: Mapping[str, Any]) -> Iterator[Signal]:
    service: Mapping[str, Any] = facts.get("service") or {}
    mismatch = facts.get("driver_mismatch")
    state = service.get("state")
    if state is None or service.get("loaded") in ("not-found", "masked") or state in _CHANGING:
        return  # nothing is said, it is not meant to run here, or it is about to
    detail = f"{state} ({service['sub_state']})" if service.get("sub_state") else str(state)
    if mismatch:
        detail = f"{detail}; it is {mismatch['fabric_manager']}, the driver {mismatch['driver']}"
    yield Signal(name="fabric_manager_down", device="", value=float(state != "active"), detail=detail)


def _from_npu(facts: Mapping[str, Any]) -> Iterator[Signal]:
    for chip in facts.get("devices") or ():
        device = str(chip.get("bus_id") or f"{chip.get('npu')}/{chip.get('chip')}")
        if chip.get("temp_c") is not None:
            yield Signal(name="npu_temperature_c", device=device, value=float(chip["temp_c"]))
        level = _NPU_LEVELS.get(str(chip.get("health")).upper())
        if level is not None:
            yield Signal(name="npu_health_level", device=device, value=level, detail=str(chip["health"]))


_READERS = {
    "nvidia_smi_q": _from_gpu_report,
    "nvidia_smi_query": _from_gpu_report,
    "nvidia_smi_xml": _from_gpu_report,
    "dcgm_metrics": _from_dcgm_metrics,
    "dcgmi_diag": _from_diagnostic,
    "fabric_manager": _from_fabric_manager,
    "ibstat": _from_ports,
    "optical_modules": _from_optics,
    "npu_smi": _from_npu,
}
# Kinds of evidence that tell of a node's health: figures here, faults in the kernel's log.
KINDS_OBSERVED = frozenset(_READERS) | {NVLINK, "kernel_log"}
