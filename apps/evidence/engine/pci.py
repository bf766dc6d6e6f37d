"""PCI addresses in one spelling, so that tools which write them differently can be joined.

nvidia-smi writes 00000000:9B:00.0, the kernel log 0000:9b:00, NCCL 9b000, nccl-tests 0x9b.
"""

from __future__ import annotations

import re

_ADDRESS = re.compile(
    r"(?:PCI:)?(?:(?P<domain>[0-9a-f]{1,8}):)?(?P<bus>[0-9a-f]{1,2}):(?P<device>[0-9a-f]{1,2})(?:\.(?P<function>[0-7]))?",
    re.IGNORECASE,
)


def pci_address(text: str) -> str | None:
    """`domain:bus:device.function` in lower case, at least four digits of domain; None if it is no address.

    A missing domain or function is 0, as tools leave out exactly those: 9b:00 becomes 0000:9b:00.0.
    """
    found = _ADDRESS.fullmatch(text.strip())
    if found is None:
        return None
    domain, bus, device = (int(found[part] or "0", 16) for part in ("domain", "bus", "device"))
    if device > 0x1F:
        return None
    return f"{domain:04x}:{bus:02x}:{device:02x}.{found['function'] or '0'}"
