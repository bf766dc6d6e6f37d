"""Which addresses the portal may call: public ones, and what the operator has allowed by name or network."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# Beyond what Python calls non-global: translation prefixes that lead to private IPv4, and a cloud's host agent.
_REFUSED = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "100.64.0.0/10",
        "192.0.0.0/24",
        "192.88.99.0/24",
        "168.63.129.16/32",
        "::/96",
        "::ffff:0:0:0/96",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "2001::/32",
        "2002::/16",
        "fec0::/10",
    )
)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")


@dataclass(frozen=True, slots=True)
class AllowList:
    """What the operator has allowed although it is not public: networks, and hosts by exact name."""

    networks: tuple[Network, ...] = ()
    hosts: frozenset[str] = frozenset()

    def names(self, host: str) -> bool:
        """Whether the host itself is on the list, so that plain http is in order too."""
        return host.lower() in self.hosts

    def holds(self, address: Address) -> bool:
        return any(address in network for network in self.networks)


def allow_list(entries: Iterable[str]) -> AllowList:
    """The list from texts such as 10.0.0.0/8, 10.1.2.3 and ci.example.internal. Raises ValueError for others.

    A single address is a host by its exact name too.
    """
    networks, hosts = [], set()
    for entry in entries:
        try:
            network = ipaddress.ip_network(entry)
        except ValueError:
            if not _HOST.fullmatch(entry.lower()) or re.fullmatch(r"[0-9./]+", entry):
                raise ValueError(f"{entry!r} is neither a network nor a host name") from None
            hosts.add(entry.lower())
        else:
            networks.append(network)
            if "/" not in entry:
                hosts.add(str(network.network_address))
    return AllowList(tuple(networks), frozenset(hosts))


def is_host(text: str) -> bool:
    """Whether it is an address as everybody writes it, or a host's name; numbers in odd notation are neither."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        name = text.lower()
        return bool(_HOST.fullmatch(name)) and not _NUMBER.fullmatch(name.rpartition(".")[2])
    return True


def may_call(address: Address, *, host: str, allowed: AllowList) -> bool:
    """Whether a connection to the address, reached by the host's name, is in order."""
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if allowed.names(host) or allowed.holds(address):
        return True
    refused = any(address in network for network in _REFUSED)
    return address.is_global and not address.is_multicast and not refused
