"""The surest parser reads; what no parser knows is refused with a reason."""

from __future__ import annotations

import pytest

from apps.evidence.engine import registry
from apps.evidence.engine.reading import Unreadable
from apps.evidence.engine.source import Source


def test_every_parser_is_found_under_its_kind() -> None:
    for kind, parser in registry.all_parsers().items():
        assert parser.__name__.endswith(f".{kind}")
        assert parser.VERSION >= 1


def test_prose_is_recognised_as_nothing() -> None:
    with pytest.raises(Unreadable) as refused:
        registry.recognise(Source.of_text("The GPU driver was updated on Monday: all 8 GPUs are fine.\n"))
    assert refused.value.code == "unrecognised"


@pytest.mark.parametrize(
    "text",
    [
        f"+{'-' * 78}+\n| AMD-SMI 26.2.0+021c61fc      amdgpu version: 6.14.14 ROCm version: 7.1.1    |\n",
        "GPU: 0\n    BDF: 0000:0c:00.0\n    UUID: c4ff74a1-0000-1000-8021-000000000001\n",
        "GPU: 0\n    ASIC:\n        MARKET_NAME: AMD Instinct MI300X\n",
    ],
)
def test_for_what_amd_smi_prints_for_people_the_command_that_says_enough_is_named(text: str) -> None:
    with pytest.raises(Unreadable, match="amd-smi static --json") as refused:
        registry.recognise(Source.of_text(text))
    assert refused.value.code == "unrecognised"


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Unreadable, match="nvidia_smi_q") as refused:
        registry.read(Source.of_text("text"), kind="nvidia_smi")
    assert refused.value.code == "unknown_kind"


def test_a_kind_that_is_named_is_not_second_guessed() -> None:
    with pytest.raises(Unreadable, match="nvidia-smi topo"):
        registry.read(Source.of_text("==============NVSMI LOG==============\n"), kind="nvidia_smi_topo")
