"""The smallest valid objects, made without services, for tests that need something to stand on."""

from __future__ import annotations

import secrets
import string
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from apps.accounts import queries
from apps.accounts.models import Person, PersonKind, RoleGrant, Scope, Token
from apps.core import clock, digest
from apps.core.rights import Role, TokenScope
from apps.environments.models import Matrix, MatrixEntry, MatrixVersion, NodeFact, NodeReport
from apps.environments.services.versions import entry_facts
from apps.fleet.models import Accelerator, Cluster, Domain, Node, SubDomain

PASSWORD = "correct horse battery"
_number = count(1)


def scope(slug: str = "", name: str = "") -> Scope:
    """A scope of its own, without a cluster."""
    slug = slug or f"scope-{next(_number)}"
    return Scope.objects.create(slug=slug, name=name or slug)


def person(
    name: str = "", *roles: Role | str, scope: Scope | None = None, password: str = PASSWORD, **fields: Any
) -> Person:
    """Somebody with roles in a scope (None: everywhere)."""
    name = name or f"Person {next(_number)}"
    email = fields.pop("email", f"{name.split()[0].lower()}.{next(_number)}@example.com")
    made = Person.objects.create_user(email=email, name=name, password=password, **fields)
    for role in roles:
        grant(made, role, scope=scope)
    return made


def service_account(name: str = "", *roles: Role | str, scope: Scope | None = None) -> Person:
    """An account that acts by tokens only."""
    made = person(name or f"ci {next(_number)}", *roles, scope=scope, kind=PersonKind.SERVICE)
    made.set_unusable_password()
    made.save()
    return made


def grant(person: Person, role: Role | str, *, scope: Scope | None = None) -> RoleGrant:
    return RoleGrant.objects.create(person=person, role=Role(role).value, scope=scope)


def bearer(
    person: Person,
    *scopes: TokenScope | str,
    clusters: Iterable[Scope] | None = None,
    expires_in: timedelta = timedelta(days=30),
    **fields: Any,
) -> str:
    """A bearer text `snp_<key>.<secret>` of somebody's new token; clusters None: all of them."""
    alphabet = string.ascii_letters + string.digits
    key = "".join(secrets.choice(alphabet) for _ in range(12))
    secret = "".join(secrets.choice(alphabet) for _ in range(40))
    token = Token.objects.create(
        key=key,
        secret_hash=queries.secret_hash(secret, pepper=1),
        pepper=1,
        name=f"token {next(_number)}",
        person=person,
        created_by=person,
        scopes=[TokenScope(scope).value for scope in scopes or (TokenScope.READ,)],
        all_clusters=clusters is None,
        expires_at=clock.now() + expires_in,
        **fields,
    )
    token.clusters.set(clusters or [])
    return f"snp_{key}.{secret}"


def cluster(slug: str = "", **fields: Any) -> Cluster:
    """A cluster without nodes, on a scope of its own."""
    slug = slug or f"cluster-{next(_number)}"
    name = fields.pop("name", slug.replace("-", " ").capitalize())
    return Cluster.objects.create(scope=scope(slug, name), slug=slug, name=name, **fields)


def domain(cluster: Cluster, name: str = "", *, sub_domains: int = 1, **fields: Any) -> Domain:
    """A scale-up domain with empty sub-domains."""
    values: dict[str, Any] = {
        "name": name or f"domain-{next(_number)}",
        "layout": "free",
        "topology": "one_switch_layer",
        "accelerator_model": "h100-sxm",
    }
    made = Domain.objects.create(cluster=cluster, **values | fields)
    for index in range(sub_domains):
        SubDomain.objects.create(domain=made, name=f"sub-{index}", index=index)
    return made


def node(
    cluster: Cluster, name: str = "", *, domain: Domain | None = None, accelerators: int = 0, **fields: Any
) -> Node:
    """A node; its accelerators stand in the first sub-domain."""
    made = Node.objects.create(
        cluster=cluster, domain=domain, name=name or f"node-{next(_number):04d}", **fields
    )
    first = domain.sub_domains.first() if domain is not None else None
    Accelerator.objects.bulk_create(
        Accelerator(node=made, sub_domain=first, index=index) for index in range(accelerators)
    )
    return made


def report(node: Node, *, at: datetime | None = None, kind: str = "nvidia_smi_xml", **versions: str) -> None:
    """The node reports these versions as loaded, and nothing else of this kind any more."""
    at = at or clock.now()
    NodeFact.objects.filter(node=node, kind=kind, until__isnull=True).update(until=at)
    NodeReport.objects.update_or_create(
        node=node,
        kind=kind,
        defaults={"facts_digest": "f" * 64, "sha256": "e" * 64, "reported_at": at, "received_at": at},
    )
    NodeFact.objects.bulk_create(
        NodeFact(
            node=node,
            kind=kind,
            component=component,
            standing="loaded",
            value=value,
            since=at,
            sha256="e" * 64,
        )
        for component, value in versions.items()
    )


def reported_domain(cluster: Cluster, nodes: int = 18, *, sub_domains: int = 3, **versions: str) -> Domain:
    """A domain of healthy nodes sn-01 … with one accelerator each, spread over sub-domains, all reporting the same.

    Without versions it is a driver and an NCCL.
    """
    made = domain(cluster, "sn", sub_domains=sub_domains)
    homes = list(made.sub_domains.all())
    each = -(-nodes // sub_domains)
    for index in range(nodes):
        one = node(cluster, f"sn-{index + 1:02d}", domain=made, index=index, health="healthy")
        Accelerator.objects.create(node=one, sub_domain=homes[index // each], index=0)
        report(one, **(versions or {"gpu_driver": "570.86.15", "nccl": "2.20.5"}))
    return made


def locked_matrix(domain: Domain, *, known_good: bool = False, **versions: str) -> MatrixVersion:
    """The locked matrix version of a domain, which asks for exactly these versions; an earlier one is retired."""
    now = clock.now()
    matrix, _created = Matrix.objects.get_or_create(
        cluster=domain.cluster, domain=domain, name=f"{domain.name} environment", defaults={"created_at": now}
    )
    made = MatrixVersion.objects.create(matrix=matrix, number=matrix.versions.count() + 1, created_at=now)
    asked = versions or {"gpu_driver": "570.86.15", "nccl": "2.20.5"}
    for component, version in asked.items():
        MatrixEntry.objects.create(matrix_version=made, component=component, rule="exact", values=[version])
    matrix.versions.filter(state="locked").update(state="retired", retired_at=now)
    made.state, made.locked_at, made.digest = "locked", now, digest.of_value(entry_facts(made))
    made.known_good_at = now if known_good else None
    made.save()
    return made
