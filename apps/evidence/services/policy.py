"""How long a cluster keeps raw bytes, kind by kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from apps.accounts.models import Scope
from apps.audit.services import decision, record
from apps.core.actor import Actor
from apps.core.errors import FieldError, Invalid, Stale
from apps.core.rights import Right, TokenScope
from apps.core.seen import write_seen
from apps.evidence import queries
from apps.evidence.engine import registry
from apps.evidence.models import KeepPolicy

LONGEST_DAYS = 36_500


@decision
def set_keep_policy(
    *,
    actor: Actor,
    scope_id: int,
    expected_version: int,
    keep_days: int | None,
    kinds: Mapping[str, int],
) -> KeepPolicy:
    """Set after how many days raw bytes that nothing rests on may go; 0 keeps them for good.

    keep_days: None leaves it to the portal's setting. kinds: kind of evidence to its own number. What a decision
    rests on, and the newest of each kind for each node, stays whatever this says.
    expected_version: 0 where nothing was set. Raises Invalid, Missing, NotAllowed (role, token_scope), Stale.
    """
    actor.require(Right.ADMIN, scope_id)
    actor.require_token_scope(TokenScope.EVIDENCE_WRITE)
    _check(keep_days, kinds)
    scope = Scope.objects.get(pk=scope_id)
    before = _facts(queries.keep_policy_of(scope))
    after = {"keep_days": keep_days, "kinds": dict(sorted(kinds.items()))}
    if not write_seen(KeepPolicy, {"scope": scope}, after, expected_version=expected_version):
        raise Stale(_("the settings were changed meanwhile; look at them again"))
    policy = queries.keep_policy_of(scope)
    if before != after:
        record(
            actor=actor,
            action="evidence.keep_policy_set",
            on=policy,
            scope_id=scope_id,
            before=before,
            after=after,
        )
    return policy


def _facts(policy: KeepPolicy) -> dict[str, Any]:
    return {"keep_days": policy.keep_days, "kinds": dict(sorted(policy.kinds.items()))}


def _check(keep_days: int | None, kinds: Mapping[str, int]) -> None:
    errors = []
    wrong = _("say 0 to %(most)s days") % {"most": LONGEST_DAYS}
    if keep_days is not None and not 0 <= keep_days <= LONGEST_DAYS:
        errors.append(FieldError(pointer="/keep_days", message=wrong, code="days"))
    for kind, days in kinds.items():
        if kind not in registry.all_parsers():
            message = _("there is no such kind of evidence")
            errors.append(FieldError(pointer=f"/kinds/{kind}", message=message, code="unknown_kind"))
        elif not 0 <= days <= LONGEST_DAYS:
            errors.append(FieldError(pointer=f"/kinds/{kind}", message=wrong, code="days"))
    if errors:
        raise Invalid(errors[0].message, code=errors[0].code, errors=errors)
