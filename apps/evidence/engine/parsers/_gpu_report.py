"""Facts of an `nvidia-smi -q` report, the same for its text and its XML form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._gpu_fields import FIGURES, FIRST_KNOWN, PATHS, Path, whole
from apps.evidence.engine.parsers._not_answering import is_error, sign_of_loss
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._tree import Branch
from apps.evidence.engine.parsers._values import count, known, size_bytes
from apps.evidence.engine.pci import pci_address
from apps.evidence.engine.source import Line

_COLDEST_C = -100
_ECC_OLD = {"corrected": "single_bit", "uncorrected": "double_bit"}
_ECC_NEW = {"corrected": "correctable", "uncorrected": "uncorrectable"}
# Two reasons are called otherwise in XML.
_SAME_REASON = {"gpu_idle": "idle", "display_clocks_setting": "display_clock_setting"}


def _is_impossible(key: str, value: object) -> bool:
    """Whether a figure is below zero, or a temperature below what a sensor can show (degrees C)."""
    return isinstance(value, int | float) and value < (_COLDEST_C if "temp" in key else 0)


class GpuReader:
    """Reads one GPU's branch; notes what it could not make sense of."""

    def __init__(self, bus_id: str, branch: Branch, notes: Notes) -> None:
        self.bus_id = bus_id
        self.branch = branch
        self._notes = notes
        self._noted: set[tuple[str, str]] = set()

    def printed(self, field: str) -> str | None:
        """The text of a field as printed, N/A included; None where it is not there."""
        found = self._leaf(PATHS[field])
        return found.text if found else None

    def _leaf(self, paths: tuple[Path, ...], *, skip_unknown: bool = False) -> Branch | None:
        """The leaf at the first path that exists (and says something); warns where equal keys differ."""
        first: Branch | None = None
        for path in paths:
            leaves = [leaf for leaf in self.branch.at(path) if leaf.text is not None]
            if len({leaf.text for leaf in leaves}) > 1:
                self._warn(
                    "contradictory_value",
                    say("%(path)s is printed with several values", path=" / ".join(path)),
                    leaves[1],
                )
            if leaves and (not skip_unknown or known(leaves[0].text) is not None):
                return leaves[0]
            first = first or (leaves[0] if leaves else None)
        return first

    def _figure(
        self, read: Callable[[str], Any], paths: tuple[Path, ...], *, skip_unknown: bool = False
    ) -> Any:
        leaf = self._leaf(paths, skip_unknown=skip_unknown)
        text = known(leaf.text) if leaf else None
        if leaf is None or text is None:
            return None
        value = read(text)
        if value is None or _is_impossible(leaf.key, value):
            self._warn("odd_value", say("the value of %(key)s is not understood", key=leaf.key), leaf)
            return None
        return value

    def _warn(self, code: str, message: str, leaf: Branch) -> None:
        if (code, message) not in self._noted:
            self._noted.add((code, message))
            at = Line(leaf.line, leaf.text or "") if leaf.line else None
            self._notes.add(
                code, say("GPU %(bus_id)s: %(message)s", bus_id=self.bus_id, message=message), at=at
            )

    def facts(self) -> dict[str, Any]:
        """Everything known of the GPU; None where the report does not say it."""
        return {
            "bus_id": pci_address(self.bus_id),
            **{field: known(self.printed(field)) for field in PATHS},
            **{
                field: self._figure(read, paths, skip_unknown=field in FIRST_KNOWN)
                for field, (read, paths) in FIGURES.items()
            },
            **{
                f"ecc_{span}_{kind}": self._ecc_count(span, kind)
                for span in ("volatile", "aggregate")
                for kind in ("uncorrected", "corrected")
            },
            "clock_reasons_active": self._clock_reasons(),
            "mig_devices": self._mig_devices(),
        }

    def _mig_devices(self) -> list[dict[str, Any]]:
        branches = _mig_branches(self.branch)
        indexes = [count(leaf.text) for branch in branches for leaf in branch.named("index")]
        merged = any(
            len({leaf.key for leaf in branch.children}) < len(branch.children) for branch in branches
        )
        if indexes != list(range(len(branches))) or merged:
            self._warn(
                "mig_devices_missing",
                say("its MIG devices are not numbered from 0 without gaps"),
                branches[0],
            )
        return [_mig_device(branch) for branch in branches]

    def _ecc_count(self, span: str, kind: str) -> int | None:
        """Errors over all memories; an unknown one makes the sum unknown unless the others count some."""
        head = ("ecc_errors", span)
        total = (*head, _ECC_OLD[kind], "total")
        if self.branch.at(total):
            return self._whole(total)
        keys = [leaf.key for part in self.branch.at(head) for leaf in part.children]
        counts = [
            self._whole((*head, key)) for key in dict.fromkeys(keys) if _ECC_NEW[kind] in key.split("_")
        ]
        errors = sum(number for number in counts if number is not None)
        return None if not counts or (None in counts and not errors) else errors

    def _whole(self, path: Path) -> int | None:
        number: int | None = self._figure(whole, (path,))
        return number

    def _clock_reasons(self) -> list[str] | None:
        """Names of the reasons that hold the clocks back now; None where the report has no such part."""
        parts = [
            branch
            for key in ("clocks_event_reasons", "clocks_throttle_reasons")
            for branch in self.branch.named(key)
            if branch.children
        ]
        if not parts:
            return None
        active = [leaf.key for leaf in parts[0].walk() if (leaf.text or "").strip().lower() == "active"]
        names = (key.split("_reason_")[-1] for key in active)
        return list(dict.fromkeys(_SAME_REASON.get(name, name) for name in names))


def _mig_branches(gpu: Branch) -> list[Branch]:
    """MIG devices nested under the GPU, in both forms."""
    nested = [child for branch in gpu.named("mig_devices") for child in branch.named("mig_device")]
    return [branch for branch in gpu.named("mig_device") + nested if branch.children]


def _mig_device(branch: Branch) -> dict[str, Any]:
    def first(*paths: Path) -> str | None:
        return next((known(leaf.text) for path in paths for leaf in branch.at(path)), None)

    return {
        "index": count(first(("index",))),
        "gpu_instance_id": count(first(("gpu_instance_id",))),
        "compute_instance_id": count(first(("compute_instance_id",))),
        "memory_total_bytes": size_bytes(
            first(("fb_memory_usage", "total"), ("shared_fb_memory_usage", "total"))
        ),
    }


def report_facts(
    gpus: list[tuple[str, Branch]],
    top: dict[str, str | None],
    notes: Notes,
    *,
    unopened: Mapping[str, Line],
) -> dict[str, Any]:
    """Facts of the whole report.

    gpus: bus id as printed and branch of each GPU. top: driver_version, cuda_version, attached_gpus,
    timestamp. unopened: addresses that nvidia-smi could not open, with the line that says so.
    """
    readers = [GpuReader(bus_id, branch, notes) for bus_id, branch in gpus]
    described = [reader.facts() for reader in readers]
    attached = count(top.get("attached_gpus"))
    memory = [leaf.text for reader in readers for leaf in _memory_leaves(reader.branch)]

    def distinct(field: str) -> list[str]:
        return list(dict.fromkeys(_values_of(readers, field)))

    def counted(field: str) -> dict[str, int]:
        return dict(Counter(_values_of(readers, field)))

    facts = {
        "driver_version": known(top.get("driver_version")),
        "cuda_version": known(top.get("cuda_version")),
        "timestamp_text": known(top.get("timestamp")),
        "attached_gpus": attached,
        "gpus_listed": len(gpus),
        "bus_ids": [bus_id for bus_id, _ in gpus],
        "models": counted("name"),
        "architectures": distinct("architecture"),
        "vbios": counted("vbios"),
        "inforom_image": distinct("inforom_image"),
        "gsp_firmware": distinct("gsp_firmware"),
        "persistence_mode": distinct("persistence_mode"),
        "mig_mode_current": distinct("mig_mode"),
        "ecc_mode_current": distinct("ecc_mode"),
        "fb_total": list(dict.fromkeys(text for text in memory if text is not None and not is_error(text))),
        "fabric_state": distinct("fabric_state"),
        "fabric_status": distinct("fabric_status"),
        "mig_devices": sum(len(gpu["mig_devices"]) for gpu in described),
        "gpus": described,
    }
    _check_counts(facts, notes)
    silent = _listed_but_silent(gpus)
    facts["gpus_not_answering"] = _name_silent(silent, unopened, notes)
    _check_parts([gpu for gpu in gpus if gpu[0] not in silent], notes)
    return facts


def _values_of(readers: list[GpuReader], field: str) -> list[str]:
    """What the GPUs print in a field, N/A included; an error in its place is no value of it."""
    texts = (reader.printed(field) for reader in readers)
    return [text for text in texts if text is not None and not is_error(text)]


def _listed_but_silent(gpus: list[tuple[str, Branch]]) -> dict[str, Line]:
    """GPUs that are in the list and say errors instead of values, with the first line that shows it."""
    found: dict[str, Line] = {}
    for bus_id, branch in gpus:
        if (sign := sign_of_loss(branch)) is not None:
            found.setdefault(bus_id, Line(sign.line or branch.line or 0, sign.text or ""))
    return found


def _name_silent(silent: Mapping[str, Line], unopened: Mapping[str, Line], notes: Notes) -> list[str]:
    """Warn of each GPU that does not answer; gives their addresses."""
    listed = {pci_address(bus_id) or bus_id: line for bus_id, line in silent.items()}
    found = {**unopened, **listed}
    for address, line in found.items():
        message = say("GPU %(address)s does not answer", address=address)
        notes.add("gpu_not_answering", message, at=line if line.number else None)
    return list(found)


def _memory_leaves(branch: Branch) -> list[Branch]:
    return branch.at(("fb_memory_usage", "total")) or branch.at(("memory_usage", "total"))


def _check_counts(facts: dict[str, Any], notes: Notes) -> None:
    attached, listed = facts["attached_gpus"], facts["gpus_listed"]
    if attached is not None and attached != listed:
        notes.add(
            "gpus_missing" if listed < attached else "gpus_too_many",
            say(
                "attached GPUs: %(attached)s, listed: %(listed)s; some were not asked for, do not answer, "
                "or the text was cut",
                attached=attached,
                listed=listed,
            ),
        )
    repeated = [bus_id for bus_id, times in Counter(facts["bus_ids"]).items() if times > 1]
    if repeated:
        notes.add("gpu_repeated", say("listed more than once: %(repeated)s", repeated=", ".join(repeated)))


def _check_parts(gpus: list[tuple[str, Branch]], notes: Notes) -> None:
    """nvidia-smi prints the same parts for every GPU, so a part that only some have was lost on the way."""
    optional = {"mig_device", "processes"}
    parts = [{child.key for child in branch.children} - optional for _, branch in gpus]
    everywhere = set.union(*parts) if parts else set()
    for (bus_id, branch), present in zip(gpus, parts, strict=True):
        if everywhere - present:
            names = ", ".join(sorted(everywhere - present)[:5])
            notes.add(
                "gpu_incomplete",
                say("GPU %(bus_id)s lacks what others have: %(names)s", bus_id=bus_id, names=names),
                line=branch.line,
            )
