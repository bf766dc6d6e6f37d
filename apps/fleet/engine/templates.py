"""Ready layouts to start from; every figure is a default to edit.

Sources: NVLink 4 and 5 have 18 links of 25 and 50 GB/s each way (NVIDIA); MI300X has seven links of 64 GB/s
each way (AMD); CloudMatrix 384 gives each package 392 GB/s each way over seven planes, with seven first-layer
chips in a node, 16 uplinks each, and 112 second-layer chips (arXiv 2506.12708). The upper layer of the 144
layouts is drawn at 2:1, the most that training allows.
"""

from __future__ import annotations

from apps.core.units import gb
from apps.fleet.engine.graph import Medium
from apps.fleet.engine.layouts import Layout, Shape, Tier, build, even_sub_domains

NVLINK4 = Tier(name="NVSwitch", switches=4, links_to_each=1, link_bytes_per_s=gb(112.5), medium=Medium.BOARD)
NVLINK5 = Tier(
    name="NVLink switch", switches=18, links_to_each=1, link_bytes_per_s=gb(50), medium=Medium.COPPER
)


def _single(key: str, title: str, nodes: int, per_node: int, tier: Tier) -> Layout:
    return Layout(
        key=key,
        title=title,
        nodes=nodes,
        accelerators_per_node=per_node,
        shape=Shape.SINGLE_LAYER,
        tiers=(tier,),
    )


def _sub_divided(key: str, title: str, *, sub_domains: int) -> Layout:
    """18 nodes of 8 in equal sub-domains of 18 switches, each with half as many links up as down."""
    cards = 144 // sub_domains
    return Layout(
        key=key,
        title=title,
        nodes=18,
        accelerators_per_node=8,
        shape=Shape.TWO_LAYER,
        sub_domain_sizes=even_sub_domains(144, sub_domains),
        tiers=(
            NVLINK5,
            Tier(
                name="upper switch",
                switches=cards // 2,
                links_to_each=1,
                link_bytes_per_s=gb(50),
                medium=Medium.OPTICAL,
            ),
        ),
    )


TEMPLATES: tuple[Layout, ...] = tuple(
    build(layout)
    for layout in (
        Layout(
            key="8-mesh",
            title="8-card node, full mesh",
            nodes=1,
            accelerators_per_node=8,
            shape=Shape.FULL_MESH,
            tiers=(
                Tier(name="mesh", switches=0, links_to_each=1, link_bytes_per_s=gb(64), medium=Medium.BOARD),
            ),
        ),
        _single("8-switched", "8-card node, one switch layer", 1, 8, NVLINK4),
        _single("72-as-9x8", "72 accelerators, 9 nodes of 8", 9, 8, NVLINK5),
        _single("72-as-18x4", "72 accelerators, 18 nodes of 4", 18, 4, NVLINK5),
        _sub_divided("144-as-4x36", "144 accelerators, 18 nodes of 8, 4 sub-domains of 36", sub_domains=4),
        _sub_divided("144-as-6x24", "144 accelerators, 18 nodes of 8, 6 sub-domains of 24", sub_domains=6),
        Layout(
            key="384-as-48x8",
            title="384 accelerators, 48 nodes of 8",
            nodes=48,
            accelerators_per_node=8,
            shape=Shape.TWO_LAYER,
            lower_group=8,
            planes=True,
            tiers=(
                Tier(
                    name="node switch",
                    switches=7,
                    links_to_each=1,
                    link_bytes_per_s=gb(56),
                    medium=Medium.BOARD,
                ),
                Tier(
                    name="upper switch",
                    switches=112,
                    links_to_each=1,
                    link_bytes_per_s=gb(28),
                    medium=Medium.OPTICAL,
                ),
            ),
        ),
    )
)


def template(key: str) -> Layout | None:
    """The ready layout of that key, or None."""
    return next((layout for layout in TEMPLATES if layout.key == key), None)
