"""Where the metrics of a cluster are fetched from: the address of its Prometheus server, and the credentials."""

from __future__ import annotations

import re
from typing import Any

from django.utils.translation import gettext as _

from apps.audit.services import decision, record
from apps.core.actor import Actor
from apps.core.errors import FieldError, Invalid, Stale
from apps.core.rights import Right
from apps.core.sealed import seal
from apps.core.seen import write_seen
from apps.fleet.models import Cluster
from apps.health.models import MetricsAuth, MetricsSource
from apps.jobs.models import Job
from apps.jobs.services import enqueue
from apps.jobs.services.webhooks import is_callable

SHORTEST_S, LONGEST_S = 60, 86_400
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")
# What may stand in a header; anything else would come back in an error's text.
_TOKEN = re.compile(r"[\x21-\x7e]{1,4096}")
_PASSWORD = re.compile(r"[^\x00-\x1f\x7f]{1,1024}")
_USERNAME = re.compile(r"[^\x00-\x1f\x7f:]{1,120}")


@decision
def set_metrics_source(
    *,
    actor: Actor,
    cluster_id: int,
    expected_version: int,
    url: str,
    host_label: str,
    enabled: bool,
    every_s: int = 300,
    auth: str = MetricsAuth.NONE,
    username: str = "",
    secret: str = "",
) -> MetricsSource:
    """Say where the cluster's Prometheus is, and how it is asked. expected_version: 0 where none was seen.

    url: https, or http for hosts that PORTAL_WEBHOOK_ALLOW names; private addresses have to be named there too.
    every_s: seconds from one look to the next. secret: the token or password; "" leaves the one on record,
    which goes to its address only: behind one host there may be several servers. The trail tells of a secret only
    whether there is one.
    Raises Invalid (url, host_label, every_s, auth, username, secret), NotAllowed (role), Stale.
    """
    cluster = Cluster.objects.get(pk=cluster_id)
    actor.require(Right.ADMIN, cluster.scope_id)
    address, name = url.strip().rstrip("/"), username.strip() if auth == MetricsAuth.BASIC else ""
    before = MetricsSource.objects.filter(cluster=cluster).first()
    keeps = before is not None and before.auth == auth and before.url == address
    held = before.secret if before is not None and keeps and before.username == name else ""
    _check(address, host_label, every_s)
    _check_credentials(auth, name, secret, held)
    after: dict[str, Any] = {"url": address, "host_label": host_label, "enabled": enabled}
    after |= {"every_s": every_s, "auth": auth, "username": name}
    sealed = (
        "" if auth == MetricsAuth.NONE else seal(secret, purpose=purpose_of(cluster_id)) if secret else held
    )
    written = after | {"secret": sealed}
    if not write_seen(MetricsSource, {"cluster": cluster}, written, expected_version=expected_version):
        raise Stale(_("the settings were changed meanwhile; look at them again"))
    record(
        actor=actor,
        action="health.metrics_source_set",
        on=cluster,
        scope_id=cluster.scope_id,
        before=_told(before) if before else None,
        after=after | {"has_secret": bool(sealed), "secret_is_new": bool(secret and sealed)},
    )
    return MetricsSource.objects.get(cluster=cluster)


@decision
def remove_metrics_source(*, actor: Actor, cluster_id: int, expected_version: int) -> None:
    """The cluster's Prometheus is asked no more, and its credentials are forgotten. Raises NotAllowed, Stale."""
    cluster = Cluster.objects.get(pk=cluster_id)
    actor.require(Right.ADMIN, cluster.scope_id)
    before = MetricsSource.objects.filter(cluster=cluster, version=expected_version).first()
    if before is None or not MetricsSource.objects.filter(pk=before.pk, version=expected_version).delete()[0]:
        raise Stale(_("the settings were changed meanwhile; look at them again"))
    record(
        actor=actor,
        action="health.metrics_source_removed",
        on=cluster,
        scope_id=cluster.scope_id,
        before=_told(before),
    )


@decision
def ask_metrics_now(*, actor: Actor, cluster_id: int) -> Job:
    """Ask the cluster's Prometheus without waiting for its time. Raises NotAllowed (role)."""
    cluster = Cluster.objects.get(pk=cluster_id)
    actor.require(Right.ADMIN, cluster.scope_id)
    return enqueue("portal.fetch_metrics", actor=actor, scope_id=cluster.scope_id, cluster_id=cluster.pk)


def purpose_of(cluster_id: int) -> str:
    """What a source's secret is sealed for: that of one cluster opens for no other."""
    return f"metrics source of cluster {cluster_id}"


def _told(source: MetricsSource) -> dict[str, Any]:
    names = ("url", "host_label", "enabled", "every_s", "auth", "username", "has_secret")
    return {name: getattr(source, name) for name in names}


def _check(address: str, host_label: str, every_s: int) -> None:
    if not is_callable(address) or "?" in address or "#" in address:
        raise _wrong("url", _("an https address; http only for hosts in PORTAL_WEBHOOK_ALLOW"))
    if not _LABEL.fullmatch(host_label):
        raise _wrong("host_label", _("a label such as Hostname or instance"))
    if not SHORTEST_S <= every_s <= LONGEST_S:
        raise _wrong("every_s", _("from a minute to a day"))


def _check_credentials(auth: str, username: str, secret: str, held: str) -> None:
    if auth not in MetricsAuth.values:
        raise _wrong("auth", _("none, bearer or basic"))
    if auth == MetricsAuth.BASIC and not _USERNAME.fullmatch(username):
        raise _wrong("username", _("a user name without a colon"))
    if auth != MetricsAuth.NONE and not secret and not held:
        raise _wrong(
            "secret", _("the token or password is needed; also again for another address, kind or user name")
        )
    may_be = _TOKEN if auth == MetricsAuth.BEARER else _PASSWORD
    if auth != MetricsAuth.NONE and secret and not may_be.fullmatch(secret):
        raise _wrong("secret", _("it holds a character that cannot be sent, or is too long"))


def _wrong(field: str, message: str) -> Invalid:
    return Invalid(message, code=field, errors=[FieldError(pointer=f"/{field}", message=message)])
