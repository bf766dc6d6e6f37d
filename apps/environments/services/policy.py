"""How a cluster's team wants its nodes watched."""

from __future__ import annotations

from django.utils.translation import gettext as _

from apps.audit.services import decision, record
from apps.core.actor import Actor
from apps.core.errors import FieldError, Invalid, Stale
from apps.core.rights import Right
from apps.core.seen import write_seen
from apps.environments import queries
from apps.environments.models import EnvironmentPolicy
from apps.fleet.models import Cluster

STALE_AFTER_S = (60, 365 * 86400)
CHECK_EVERY_S = (60, 7 * 86400)


@decision
def set_policy(
    *, actor: Actor, cluster_id: int, expected_version: int, stale_after_s: int, check_every_s: int
) -> EnvironmentPolicy:
    """Set after how long a report is stale, and how often domains are checked; both in seconds.

    expected_version: 0 where the defaults were seen. Raises Invalid, NotAllowed (role), Stale.
    """
    cluster = Cluster.objects.get(pk=cluster_id)
    actor.require(Right.ADMIN, cluster.scope_id)
    _check("/stale_after_s", stale_after_s, STALE_AFTER_S)
    _check("/check_every_s", check_every_s, CHECK_EVERY_S)
    held = queries.policy_of(cluster)
    before = {"stale_after_s": held.stale_after_s, "check_every_s": held.check_every_s}
    after = {"stale_after_s": stale_after_s, "check_every_s": check_every_s}
    if not write_seen(EnvironmentPolicy, {"cluster": cluster}, after, expected_version=expected_version):
        raise Stale(_("the settings were changed meanwhile; look at them again"))
    if before != after:
        record(
            actor=actor,
            action="environment.policy_set",
            on=cluster,
            scope_id=cluster.scope_id,
            before=before,
            after=after,
        )
    return queries.policy_of(cluster)


def _check(pointer: str, value: int, limits: tuple[int, int]) -> None:
    low, high = limits
    if not low <= value <= high:
        message = _("say %(low)s to %(high)s seconds") % {"low": low, "high": high}
        raise Invalid(message, code="seconds", errors=[FieldError(pointer=pointer, message=message)])
