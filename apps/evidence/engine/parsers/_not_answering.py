"""GPUs, and drivers, of which nvidia-smi says that they do not answer, in a report or in place of one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from apps.evidence.engine.parsers._prefixes import without_prefix
from apps.evidence.engine.parsers._tree import Branch
from apps.evidence.engine.pci import pci_address
from apps.evidence.engine.source import Line

_ADDRESS = r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]"
_NO_HANDLE = re.compile(
    rf"Unable to determine the device handle for GPU ?(?:\d{{1,3}}: )?(?P<bus>{_ADDRESS})"
)
_NO_DRIVER = re.compile(
    r"^\s*(?:NVIDIA-SMI has failed because it couldn.{1,6}t communicate with the NVIDIA driver|"
    r"Failed to initialize NVML: )"
)
_NO_DRIVER_WORDS = ("NVIDIA-SMI has failed", "Failed to initialize NVML")
_NO_DEVICES = re.compile(r"No devices were found\.?")
_MOST_AROUND = 3  # lines beside it, such as the command, in a text that says it alone
_ERROR = re.compile(
    r"\[?(?:GPU is lost|GPU requires reset|Unknown Error|ERR!)(?:\]|\.? |\.?$)", re.IGNORECASE
)
_LOST = re.compile(r"\bGPU is lost\b", re.IGNORECASE)
_IDENTITY = frozenset({"product_name", "uuid", "gpu_uuid"})
ERROR_KEY = "error"  # of a branch that stands for a sentence beneath a GPU's heading


def is_error(text: str | None) -> bool:
    """Whether a value is the error that came in its place. `N/A` and `Not Supported` are none."""
    return text is not None and _ERROR.match(text.strip()) is not None


def sign_of_loss(gpu: Branch) -> Branch | None:
    """The first error in the branch of a GPU that does not answer; None for one that does.

    A sensor that fails alone is no loss: it takes the word that the GPU is lost, an error in place of its name or
    UUID, or errors in place of half of its values.
    """
    leaves = [leaf for leaf in (gpu, *gpu.walk()) if leaf.text]
    errors = [leaf for leaf in leaves if is_error(leaf.text)]
    is_lost = any(
        leaf.key in _IDENTITY or leaf.key == ERROR_KEY or _LOST.search(leaf.text or "") for leaf in errors
    )
    return errors[0] if errors and (is_lost or 2 * len(errors) >= len(leaves)) else None


def gpus_without_handle(lines: Iterable[Line]) -> dict[str, Line]:
    """Addresses that nvidia-smi could not open, which it then leaves out of the report, with the line that says so."""
    found: dict[str, Line] = {}
    for line in lines:
        match = _NO_HANDLE.search(line.text)
        if match and (address := pci_address(match["bus"])):
            found.setdefault(address, line)
    return found


def driver_error(lines: Iterable[Line]) -> Line | None:
    """The line by which nvidia-smi says that the driver does not answer."""
    return next((line for line in lines if _NO_DRIVER.match(line.text)), None)


def stands_alone(sample: str) -> bool:
    """Whether a text holds such a message, which nvidia-smi prints in place of its report."""
    if _NO_HANDLE.search(sample):
        return True
    if any(words in sample for words in _NO_DRIVER_WORDS) and any(
        _NO_DRIVER.match(without_prefix(line)) for line in sample.split("\n")
    ):
        return True
    lines = [without_prefix(line).strip() for line in sample.split("\n", 20)]
    filled = [line for line in lines if line]
    return len(filled) <= 1 + _MOST_AROUND and any(_NO_DEVICES.fullmatch(line) for line in filled)


def no_devices(lines: Iterable[Line]) -> Line | None:
    """The line by which nvidia-smi says that the driver answers and knows of no GPU."""
    return next((line for line in lines if _NO_DEVICES.fullmatch(line.text.strip())), None)
