"""What a layout of a scale-up domain is: nodes and accelerators, sub-domains, tiers of links, and names."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import StrEnum

from apps.fleet.engine.graph import Medium

NODE_PATTERN = "{domain}-n{node:02d}"
SUB_DOMAIN_PATTERN = "{domain}-s{sub_domain}"
MAX_LINKS = 100_000  # between two ends
MAX_BYTES_PER_S = 1e15  # of one link, and of all that one accelerator has


class Shape(StrEnum):
    """How the accelerators of a layout are joined."""

    FULL_MESH = "full_mesh"
    SINGLE_LAYER = "single_layer"
    TWO_LAYER = "two_layer"
    FAT_TREE = "fat_tree"
    RING = "ring"
    TORUS = "torus"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """Switches of one layer. Links lead to them from what stands beneath.

    switches: of the layer, per lower group in the first tier of a two-layer shape. links_to_each: parallel
    links from each accelerator (or lower switch) to each switch. link_bytes_per_s: of one link, one way.
    """

    name: str
    switches: int
    links_to_each: int
    link_bytes_per_s: float
    medium: Medium


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """One domain's layout.

    sub_domain_sizes: accelerators in each sub-domain, in order; empty where the whole domain is one.
    lower_group: accelerators below one group of first-layer switches, in a two-layer shape; 0 otherwise.
    planes: the n-th lower switch of each group reaches the n-th share of the upper switches only.
    sides: of a torus, two or three; empty otherwise.
    tiers: from the accelerators outwards, two in a two-layer shape and one otherwise. Only the switch layers
    take a count of switches: a fat tree has as many as its accelerators ask for, the other shapes none.
    """

    key: str
    title: str
    nodes: int
    accelerators_per_node: int
    shape: Shape
    tiers: tuple[Tier, ...]
    sub_domain_sizes: tuple[int, ...] = ()
    lower_group: int = 0
    planes: bool = False
    sides: tuple[int, ...] = ()
    node_pattern: str = NODE_PATTERN
    sub_domain_pattern: str = SUB_DOMAIN_PATTERN

    @property
    def accelerators(self) -> int:
        return self.nodes * self.accelerators_per_node

    @property
    def unidirectional_bytes_per_s(self) -> float:
        """What one accelerator can send into the domain."""
        first = self.tiers[0]
        ways = {
            Shape.FULL_MESH: self.accelerators - 1,
            Shape.FAT_TREE: 1,
            Shape.RING: 2,
            Shape.TORUS: sum(1 if side == 2 else 2 for side in self.sides),
        }
        return ways.get(self.shape, first.switches) * first.links_to_each * first.link_bytes_per_s

    @property
    def radix(self) -> int:
        """Of a fat tree: the even k for which k³/4 is the accelerators; 0 where there is none."""
        nearest = round((4 * self.accelerators) ** (1 / 3))
        return nearest if nearest % 2 == 0 and nearest**3 == 4 * self.accelerators else 0

    def sub_domain_of(self, accelerator: int) -> int | None:
        """0-based sub-domain of the n-th accelerator of the domain; None where there are none."""
        ends = itertools.accumulate(self.sub_domain_sizes)
        return next((place for place, end in enumerate(ends) if accelerator < end), None)
