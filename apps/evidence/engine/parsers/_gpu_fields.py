"""Where each fact of a GPU stands in an `nvidia-smi -q` report, in its text and in its XML form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

from apps.evidence.engine.parsers._values import count, quantity, size_bytes, yes_or_no

Path = tuple[str, ...]

# field of a GPU: where it stands, best first (text form since 535, XML form, older ones).
PATHS: dict[str, tuple[Path, ...]] = {
    "name": (("product_name",),),
    "brand": (("product_brand",),),
    "architecture": (("product_architecture",),),
    "uuid": (("gpu_uuid",), ("uuid",)),
    "serial": (("serial_number",), ("serial",)),
    "board_part_number": (("board_part_number",),),
    "gpu_part_number": (("gpu_part_number",),),
    "vbios": (("vbios_version",),),
    "inforom_image": (("inforom_version", "image_version"), ("inforom_version", "img_version")),
    "gsp_firmware": (("gsp_firmware_version",),),
    "persistence_mode": (("persistence_mode",),),
    "compute_mode": (("compute_mode",),),
    "virtualization_mode": (
        ("gpu_virtualization_mode", "virtualization_mode"),
        ("virtualization_mode", "current"),
    ),
    "mig_mode": (("mig_mode", "current"), ("mig_mode", "current_mig")),
    "mig_mode_pending": (("mig_mode", "pending"), ("mig_mode", "pending_mig")),
    "ecc_mode": (("ecc_mode", "current"), ("ecc_mode", "current_ecc")),
    "ecc_mode_pending": (("ecc_mode", "pending"), ("ecc_mode", "pending_ecc")),
    "performance_state": (("performance_state",),),
    "recovery_action": (("gpu_recovery_action",),),
    "fabric_state": (("fabric", "state"),),
    "fabric_status": (("fabric", "status"),),
    "fabric_cluster_uuid": (("fabric", "clusteruuid"),),
    "fabric_clique_id": (("fabric", "cliqueid"),),
    "fabric_health": (("fabric", "health", "summary"),),
    "chassis_serial": (
        ("platform_info", "chassis_serial_number"),
        ("platforminfo", "chassis_serial_number"),
    ),
    "slot_number": (("platform_info", "slot_number"), ("platforminfo", "slot_number")),
    "tray_index": (("platform_info", "tray_index"), ("platforminfo", "tray_index")),
    "host_id": (("platform_info", "host_id"), ("platforminfo", "host_id")),
    "module_id": (
        ("platform_info", "module_id"),
        ("module_id",),
        ("gpu_module_id",),
        ("platforminfo", "module_id"),
    ),
}

_LINK_INFO = (("pci", "gpu_link_info"), ("pci", "pci_gpu_link_info"))
_POWER = ("gpu_power_readings", "power_readings")


def _below(heads: Iterable[Path], *tails: Path) -> tuple[Path, ...]:
    return tuple(head + tail for head, tail in product(heads, tails))


def _power(*tails: str) -> tuple[Path, ...]:
    return _below(((head,) for head in _POWER), *((tail,) for tail in tails))


def whole(text: str) -> int | None:
    return count(text)


def _lanes(text: str) -> int | None:
    return count(text, "x")


def _celsius(text: str) -> float | None:
    return quantity(text, "C")


def _watts(text: str) -> float | None:
    return quantity(text, "W")


def _percent(text: str) -> float | None:
    return quantity(text, "%")


# Figures of which the first known of several is taken: GPUs differ in which sensor they have.
FIRST_KNOWN = frozenset({"power_w"})

# field of a GPU that is a figure: how to read it, and where it stands.
FIGURES: dict[str, tuple[Callable[[str], Any], tuple[Path, ...]]] = {
    "minor": (whole, (("minor_number",),)),
    "memory_total_bytes": (
        size_bytes,
        (("fb_memory_usage", "total"), ("memory_usage", "total")),
    ),
    "memory_used_bytes": (size_bytes, (("fb_memory_usage", "used"), ("memory_usage", "used"))),
    "pcie_gen_current": (
        whole,
        _below(_LINK_INFO, ("pcie_generation", "current"), ("pcie_gen", "current_link_gen")),
    ),
    "pcie_gen_max": (
        whole,
        _below(_LINK_INFO, ("pcie_generation", "max"), ("pcie_gen", "max_link_gen")),
    ),
    "pcie_width_current": (
        _lanes,
        _below(_LINK_INFO, ("link_width", "current"), ("link_widths", "current_link_width")),
    ),
    "pcie_width_max": (
        _lanes,
        _below(_LINK_INFO, ("link_width", "max"), ("link_widths", "max_link_width")),
    ),
    "pcie_replays": (whole, (("pci", "replays_since_reset"), ("pci", "replay_counter"))),
    "temperature_c": (
        _celsius,
        (("temperature", "gpu_current_temp"), ("temperature", "gpu_temp"), ("temperature", "gpu")),
    ),
    "memory_temperature_c": (
        _celsius,
        (("temperature", "memory_current_temp"), ("temperature", "memory_temp")),
    ),
    "power_w": (_watts, _power("power_draw", "instantaneous_power_draw", "instant_power_draw")),
    "average_power_w": (_watts, _power("average_power_draw")),
    "power_limit_w": (_watts, _power("current_power_limit", "enforced_power_limit", "power_limit")),
    "gpu_utilisation_percent": (_percent, (("utilization", "gpu"), ("utilization", "gpu_util"))),
    "retired_pages_single_bit": (
        whole,
        (
            ("retired_pages", "single_bit_ecc"),
            ("retired_pages", "multiple_single_bit_retirement", "retired_count"),
        ),
    ),
    "retired_pages_double_bit": (
        whole,
        (
            ("retired_pages", "double_bit_ecc"),
            ("retired_pages", "double_bit_retirement", "retired_count"),
        ),
    ),
    "retired_pages_pending": (
        yes_or_no,
        (
            ("retired_pages", "pending_page_blacklist"),
            ("retired_pages", "pending_retirement"),
            ("retired_pages", "pending_blacklist"),
            ("retired_pages", "pending"),
        ),
    ),
    "sram_threshold_exceeded": (yes_or_no, (("ecc_errors", "aggregate", "sram_threshold_exceeded"),)),
    "channel_repair_pending": (yes_or_no, (("ecc_errors", "channel_repair_pending"),)),
    "tpc_repair_pending": (yes_or_no, (("ecc_errors", "tpc_repair_pending"),)),
    "unrepairable_memory": (yes_or_no, (("ecc_errors", "unrepairable_memory"),)),
    "remapped_rows_correctable": (
        whole,
        (("remapped_rows", "correctable_error"), ("remapped_rows", "remapped_row_corr")),
    ),
    "remapped_rows_uncorrectable": (
        whole,
        (("remapped_rows", "uncorrectable_error"), ("remapped_rows", "remapped_row_unc")),
    ),
    "remapped_rows_pending": (
        yes_or_no,
        (("remapped_rows", "pending"), ("remapped_rows", "remapped_row_pending")),
    ),
    "remapped_rows_failure": (
        yes_or_no,
        (
            ("remapped_rows", "remapping_failure_occurred"),
            ("remapped_rows", "remapped_row_failure"),
        ),
    ),
}
