"""Collectives: latency and bandwidth of ring, tree and hierarchical algorithms over domains.

A group of n ranks lies as `inside` ranks in each of `sub_domains` parts of each of `domains` domains. Sizes are
bytes on each rank, results seconds; a group of one costs nothing. Sources: Patarasuk and Yuan 2009; nccl-tests
PERFORMANCE.md; NVIDIA NCCL src/graph/tuning.cc for latencies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from apps.planning.engine.coefficients import Coefficients
from apps.planning.engine.layouts import Floats, Ints
from apps.planning.engine.system import System


@dataclass(frozen=True, slots=True, kw_only=True)
class Fabric:
    """Reachable one-way bytes per second per card, and latency per step: inside a sub-domain (up), between
    sub-domains of one domain (mid), and between domains (out). Sizes are cards."""

    domain_size: int
    sub_domain_size: int
    up_bytes_per_s: float
    mid_bytes_per_s: float
    out_bytes_per_s: float
    up_hop_s: float
    mid_hop_s: float
    out_hop_s: float
    start_s: float
    small_start_s: float
    small_up_hop_s: float
    small_out_hop_s: float
    small_payload_share: float


def fabric(system: System, coefficients: Coefficients) -> Fabric:
    """The system's fabric: measured bus bandwidth where there is some, else a share of the vendor's figure.

    Between sub-domains the bandwidth is the uplink's: scale-up over the convergence ratio, one hop more.
    """
    measured = system.measured
    up = measured.scale_up_bytes_per_s or system.scale_up_bytes_per_s * coefficients.scale_up_share
    return Fabric(
        domain_size=system.domain_size,
        sub_domain_size=system.sub_domain_size or system.domain_size,
        up_bytes_per_s=up,
        mid_bytes_per_s=up / system.convergence,
        out_bytes_per_s=measured.scale_out_bytes_per_s
        or system.scale_out_bytes_per_s * coefficients.scale_out_share,
        up_hop_s=coefficients.hop_up_s,
        mid_hop_s=2.0 * coefficients.hop_up_s,
        out_hop_s=coefficients.hop_out_s,
        start_s=coefficients.collective_start_s,
        small_start_s=coefficients.small_start_s,
        small_up_hop_s=coefficients.small_up_hop_s,
        small_out_hop_s=coefficients.small_out_hop_s,
        small_payload_share=coefficients.small_payload_share,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Ranks of a group: how many share a sub-domain, over how many sub-domains of a domain they lie, and over
    how many domains."""

    ranks: Ints
    inside: Ints
    sub_domains: Ints
    domains: Ints

    @property
    def in_domain(self) -> Ints:
        """Ranks that share a domain."""
        shared: Ints = np.minimum(self.inside * self.sub_domains, self.ranks)
        return shared


def group(ranks: Ints, stride: Ints, net: Fabric) -> Group:
    """The group of `ranks` ranks, each `stride` ranks from the next, over domains of consecutive ranks."""
    step = np.maximum(stride, 1)
    in_domain: Ints = np.clip(net.domain_size // step, 1, ranks)
    inside: Ints = np.clip(net.sub_domain_size // step, 1, in_domain)
    return Group(
        ranks=ranks, inside=inside, sub_domains=-(-in_domain // inside), domains=-(-ranks // in_domain)
    )


def gather_s(size_bytes: Floats, members: Group, net: Fabric) -> Floats:
    """All-gather or reduce-scatter of `size_bytes` (the whole buffer): (n-1)/n of it, hierarchically.

    Inside a sub-domain each rank moves its share over scale-up; across, the ranks of one side use one link
    each, so 1/inside of the buffer crosses per link or NIC.
    """
    inside, parts, domains = members.inside, members.sub_domains, members.domains
    up = (inside - 1) / inside * size_bytes / net.up_bytes_per_s
    mid = (parts - 1) / parts * size_bytes / inside / net.mid_bytes_per_s
    out = (domains - 1) / domains * size_bytes / members.in_domain / net.out_bytes_per_s
    latency = _steps(inside) * net.up_hop_s + _steps(parts) * net.mid_hop_s + _steps(domains) * net.out_hop_s
    return np.where(members.ranks > 1, net.start_s + latency + up + mid + out, 0.0)


def _steps(parts: Ints) -> Floats:
    """Latency steps among so many ranks or parts: a ring while it is short, a tree beyond."""
    steps: Floats = np.minimum(parts - 1.0, 2.0 * np.log2(parts.astype(np.float64)))
    return steps


def all_reduce_s(size_bytes: Floats, members: Group, net: Fabric, *, in_network: bool = False) -> Floats:
    """All-reduce of `size_bytes`: a reduce-scatter and an all-gather, or the in-network form inside a domain.

    Small buffers go by the low-latency protocol where that is quicker. With in-network reduction each rank
    sends its buffer once through the switch instead of 2(n-1)/n times.
    """
    ring: Floats = 2.0 * gather_s(size_bytes, members, net) - np.where(members.ranks > 1, net.start_s, 0.0)
    ring = np.minimum(ring, _small_all_reduce_s(size_bytes, members, net))
    if not in_network:
        return ring
    switch = net.start_s + 2.0 * net.up_hop_s + size_bytes / net.up_bytes_per_s
    usable = (members.domains == 1) & (members.sub_domains == 1) & (members.ranks > 2)
    return np.where(usable, np.minimum(ring, switch), ring)


def _small_all_reduce_s(size_bytes: Floats, members: Group, net: Fabric) -> Floats:
    """A tree with the low-latency protocol: few short steps, but flags take part of each message."""
    up = 2.0 * np.log2(members.inside.astype(np.float64)) * net.small_up_hop_s
    out = 2.0 * np.log2((members.sub_domains * members.domains).astype(np.float64))
    slowest = np.where(
        members.domains > 1,
        net.out_bytes_per_s,
        np.where(members.sub_domains > 1, net.mid_bytes_per_s, net.up_bytes_per_s),
    )
    moved = 2.0 * size_bytes / (net.small_payload_share * slowest)
    hop = np.where(members.domains > 1, net.small_out_hop_s, net.small_up_hop_s)
    return np.where(members.ranks > 1, net.small_start_s + up + out * hop + moved, 0.0)


def all_to_all_s(
    size_bytes: Floats, members: Group, net: Fabric, *, domain_share: Floats | float = 1.0
) -> Floats:
    """All-to-all where each rank sends `size_bytes` in total, evenly to all ranks.

    The levels run at the same time, so the slowest one counts. `domain_share` is what is left of the bytes
    that cross domains when a token goes to each domain only once.
    """
    ranks, in_domain = members.ranks, members.in_domain
    up = (members.inside - 1) / ranks * size_bytes / net.up_bytes_per_s
    mid = (in_domain - members.inside) / ranks * size_bytes / net.mid_bytes_per_s
    out = (ranks - in_domain) / ranks * size_bytes * domain_share / net.out_bytes_per_s
    latency = np.where(members.domains > 1, net.out_hop_s, net.up_hop_s)
    slowest = np.maximum(np.maximum(up, mid), out)
    return np.where(ranks > 1, net.start_s + latency + slowest, 0.0)


def send_s(size_bytes: Floats, stride: Ints, net: Fabric) -> Floats:
    """One message to a rank `stride` ranks away: over scale-up where it stays in the domain."""
    leaves, crosses = stride >= net.domain_size, stride >= net.sub_domain_size
    bandwidth = np.where(
        leaves, net.out_bytes_per_s, np.where(crosses, net.mid_bytes_per_s, net.up_bytes_per_s)
    )
    hop = np.where(leaves, net.out_hop_s, np.where(crosses, net.mid_hop_s, net.up_hop_s))
    return net.start_s + hop + size_bytes / bandwidth


def ring_all_reduce_s(*, size_bytes: float, ranks: int, bandwidth_bytes_per_s: float) -> float:
    """Closed form of a ring all-reduce without its latencies: 2(n-1)/n of the buffer over the path."""
    return 2 * (ranks - 1) / ranks * size_bytes / bandwidth_bytes_per_s
