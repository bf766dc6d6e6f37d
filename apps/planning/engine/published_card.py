"""Published runs, the card: names that publications use for accelerators of the catalogue."""

from __future__ import annotations

import re

from apps.catalogue.engine.accelerators import Accelerator, shipped_accelerators

CARDS = {
    "A100": "nvidia-a100-sxm4-80gb",
    "A100-40GB": "nvidia-a100-sxm4-40gb",
    "A100-80GB": "nvidia-a100-sxm4-80gb",
    "A800": "nvidia-a800-sxm4-80gb",
    "B200": "nvidia-b200-sxm-180gb",
    "B200-192GB": "nvidia-b200-sxm-180gb",
    "B300": "nvidia-b300-sxm-288gb",
    "GB200": "nvidia-gb200",
    "GB300": "nvidia-gb300",
    "GH200": "nvidia-gh200-96gb",
    "H100": "nvidia-h100-sxm5-80gb",
    "H100-80GB": "nvidia-h100-sxm5-80gb",
    "H200": "nvidia-h200-sxm-141gb",
    "H200-141GB": "nvidia-h200-sxm-141gb",
    "H20": "nvidia-h20-sxm-96gb",
    "H800": "nvidia-h800-sxm5-80gb",
    "MI300X": "amd-mi300x",
    "MI325X": "amd-mi325x",
    "MI355X": "amd-mi355x",
    "V100": "nvidia-v100-sxm2-32gb",
    "V100-32GB": "nvidia-v100-sxm2-32gb",
}
# Words that say nothing more of which card it is: who made it, its usual form, host, memory and domain.
USUAL = re.compile("NVIDIA|AMD|TESLA|INSTINCT|SXM[0-9]?|DGX|HGX|HBM[0-9]?E?|NVL72")


def card_named(name: str) -> Accelerator | None:
    """The part of that catalogue id or published name; None where it is unknown, or could be several parts."""
    parts = shipped_accelerators()
    if name.lower() in parts:
        return parts[name.lower()]
    plain = [word for word in re.findall("[A-Z0-9]+", name.upper()) if not USUAL.fullmatch(word)]
    found = CARDS.get("-".join(plain))
    return parts[found] if found else _described(name)


def _described(name: str) -> Accelerator | None:
    """The only part that all words of a name describe, such as `Ascend 910C`, `H100 PCIe` or `Gaudi 3`."""
    said = _words(name)
    if not any(re.search("[a-z]", word) for word in said):
        return None
    fitting = [
        part
        for part in shipped_accelerators().values()
        if said - _words(part.vendor) and said <= _words(f"{part.vendor} {part.id} {part.name}")
    ]
    return fitting[0] if len(fitting) == 1 else None


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))
