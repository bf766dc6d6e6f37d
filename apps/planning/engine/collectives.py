"""Collectives: latency and bandwidth of ring, tree and hierarchical algorithms over domains.

A group of n ranks lies as `inside` ranks in each of `domains` domains. Sizes are bytes on each rank, results
seconds; a group of one costs nothing. Sources: Patarasuk and Yuan 2009; nccl-tests PERFORMANCE.md; NVIDIA
NCCL src/graph/tuning.cc for latencies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from apps.planning.engine.coefficients import Coefficients
from apps.planning.engine.layouts import Floats, Ints
from apps.planning.engine.system import System


@dataclass(frozen=True, slots=True, kw_only=True)
class Fabric:
    """Reachable one-way bytes per second per card inside and between domains, and latency per step."""

    up_bytes_per_s: float
    out_bytes_per_s: float
    up_hop_s: float
    out_hop_s: float
    start_s: float


def fabric(system: System, coefficients: Coefficients) -> Fabric:
    """The system's fabric: measured bus bandwidth where there is some, else a share of the vendor's figure."""
    measured = system.measured
    return Fabric(
        up_bytes_per_s=measured.scale_up_bytes_per_s
        or system.scale_up_bytes_per_s * coefficients.scale_up_share,
        out_bytes_per_s=measured.scale_out_bytes_per_s
        or system.scale_out_bytes_per_s * coefficients.scale_out_share,
        up_hop_s=coefficients.hop_up_s,
        out_hop_s=coefficients.hop_out_s,
        start_s=coefficients.collective_start_s,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Ranks of a group, how many of them share a domain, and over how many domains they lie."""

    ranks: Ints
    inside: Ints
    domains: Ints


def group(ranks: Ints, stride: Ints, domain_size: int) -> Group:
    """The group of `ranks` ranks, each `stride` ranks from the next, over domains of consecutive ranks."""
    inside: Ints = np.clip(domain_size // np.maximum(stride, 1), 1, ranks)
    return Group(ranks=ranks, inside=inside, domains=-(-ranks // inside))


def gather_s(size_bytes: Floats, members: Group, net: Fabric) -> Floats:
    """All-gather or reduce-scatter of `size_bytes` (the whole buffer): (n-1)/n of it, hierarchically.

    Inside the domain each rank moves its share over scale-up; across domains the ranks of one domain use one
    NIC each, so 1/inside of the buffer crosses per NIC.
    """
    inside, domains = members.inside, members.domains
    up = (inside - 1) / inside * size_bytes / net.up_bytes_per_s
    out = (domains - 1) / domains * size_bytes / inside / net.out_bytes_per_s
    hops_up = np.where(domains > 1, np.log2(inside), inside - 1)
    latency = hops_up * net.up_hop_s + _steps(domains) * net.out_hop_s
    return np.where(members.ranks > 1, net.start_s + latency + up + out, 0.0)


def _steps(domains: Ints) -> Floats:
    """Latency steps across domains: a ring while it is short, a tree beyond."""
    steps: Floats = np.minimum(domains - 1.0, 2.0 * np.log2(domains.astype(np.float64)))
    return steps


def all_reduce_s(size_bytes: Floats, members: Group, net: Fabric, *, in_network: bool = False) -> Floats:
    """All-reduce of `size_bytes`: a reduce-scatter and an all-gather, or the in-network form inside a domain.

    With in-network reduction each rank sends its buffer once through the switch instead of 2(n-1)/n times.
    """
    ring: Floats = 2.0 * gather_s(size_bytes, members, net) - np.where(members.ranks > 1, net.start_s, 0.0)
    if not in_network:
        return ring
    switch = net.start_s + 2.0 * net.up_hop_s + size_bytes / net.up_bytes_per_s
    usable = (members.domains == 1) & (members.ranks > 2)
    return np.where(usable, np.minimum(ring, switch), ring)


def all_to_all_s(
    size_bytes: Floats, members: Group, net: Fabric, *, domain_share: Floats | float = 1.0
) -> Floats:
    """All-to-all where each rank sends `size_bytes` in total, evenly to all ranks.

    Inside and between domains run at the same time, so the slower one counts. `domain_share` is what is left
    of the bytes that cross domains when a token goes to each domain only once.
    """
    up = (members.inside - 1) / members.ranks * size_bytes / net.up_bytes_per_s
    crossing = (members.ranks - members.inside) / members.ranks
    out = crossing * size_bytes * domain_share / net.out_bytes_per_s
    latency = np.where(members.domains > 1, net.out_hop_s, net.up_hop_s)
    return np.where(members.ranks > 1, net.start_s + latency + np.maximum(up, out), 0.0)


def send_s(size_bytes: Floats, stride: Ints, domain_size: int, net: Fabric) -> Floats:
    """One message to a rank `stride` ranks away: over scale-up where it stays in the domain."""
    far = stride >= domain_size
    bandwidth = np.where(far, net.out_bytes_per_s, net.up_bytes_per_s)
    return net.start_s + np.where(far, net.out_hop_s, net.up_hop_s) + size_bytes / bandwidth


def ring_all_reduce_s(
    *, size_bytes: float, ranks: int, bandwidth_bytes_per_s: float, hop_s: float = 0.0
) -> float:
    """Closed form of a ring all-reduce: 2(n-1)/n of the buffer over the path, and 2(n-1) latencies."""
    steps = 2 * (ranks - 1)
    return steps / ranks * size_bytes / bandwidth_bytes_per_s + steps * hop_s
