"""Rules between components: set, added, switched off, and given back to what is shipped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from apps.audit.services import decision, record
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import FieldError, Invalid, Missing, Stale
from apps.core.reasons import says_something
from apps.core.rights import Right
from apps.core.seen import write_seen
from apps.environments.engine.compat import read_rules, shipped_rows
from apps.environments.models import CompatibilityEdit
from apps.fleet.models import Cluster

_ID = re.compile(r"[a-z0-9][a-z0-9-]{1,79}")


@decision
def set_compatibility_rule(
    *,
    actor: Actor,
    rule_id: str,
    cluster_id: int | None,
    expected_version: int,
    definition: Mapping[str, Any] | None,
    reason: str,
) -> CompatibilityEdit:
    """Set a rule for one cluster, or (None) for all that say nothing themselves; None switches it off.

    definition: as in compatibility.yaml without the id, with the source that it rests on. An id that is new
    makes a new rule. It holds from the next look at a draft on; locked versions stay locked.
    expected_version: 0 where this place says nothing yet.
    Raises Invalid (bad_rules with pointers below /definition, id, source, reason), NotAllowed, Missing, Stale.
    """
    scope_id = _scope_id(cluster_id)
    actor.require(Right.ADMIN, scope_id)
    _check(rule_id, definition, reason)
    place = CompatibilityEdit.objects.filter(rule=rule_id, cluster_id=cluster_id)
    before = place.first()
    if definition is None and before is None and rule_id not in shipped_rows():
        everywhere = CompatibilityEdit.objects.filter(rule=rule_id, cluster__isnull=True)
        if not everywhere.exists():
            raise Missing(_("there is no such rule"))
    said = {
        "definition": None if definition is None else dict(definition),
        "reason": reason.strip()[:300],
        "changed_by_id": actor.person_id,
        "changed_at": clock.now(),
    }
    key = {"rule": rule_id, "cluster_id": cluster_id}
    if not write_seen(CompatibilityEdit, key, said, expected_version=expected_version):
        raise Stale(_("the rule was changed meanwhile; look at it again"))
    edit = place.get()
    record(
        actor=actor,
        action="environment.compatibility_rule_set",
        on=edit,
        scope_id=scope_id,
        before=None if before is None else {"rule": rule_id, "definition": before.definition},
        after={"rule": rule_id, "definition": edit.definition},
        reason=edit.reason,
    )
    return edit


@decision
def clear_compatibility_rule(
    *, actor: Actor, rule_id: str, cluster_id: int | None, expected_version: int
) -> None:
    """Take back what was set here: the rule is again as everywhere, as shipped, or gone.

    Raises NotAllowed, Missing where nothing was set here, Stale.
    """
    scope_id = _scope_id(cluster_id)
    actor.require(Right.ADMIN, scope_id)
    place = CompatibilityEdit.objects.filter(rule=rule_id, cluster_id=cluster_id)
    held = place.first()
    if held is None:
        raise Missing(_("nothing was set for this rule here"))
    record(
        actor=actor,
        action="environment.compatibility_rule_cleared",
        on=held,
        scope_id=scope_id,
        before={"rule": rule_id, "definition": held.definition},
    )
    removed, _rows = place.filter(version=expected_version).delete()
    if not removed:
        raise Stale(_("the rule was changed meanwhile; look at it again"))


def _scope_id(cluster_id: int | None) -> int | None:
    return None if cluster_id is None else Cluster.objects.get(pk=cluster_id).scope_id


def _check(rule_id: str, definition: Mapping[str, Any] | None, reason: str) -> None:
    errors: list[FieldError] = []
    if not _ID.fullmatch(rule_id):
        errors.append(FieldError(pointer="/id", message=_("small letters, digits and dashes; 2 to 80")))
    if not says_something(reason):
        errors.append(FieldError(pointer="/reason", message=_("a reason is needed")))
    if definition is not None:
        errors += _faults(rule_id, definition)
    if errors:
        raise Invalid(errors[0].message, code="bad_rules", errors=errors)


def _faults(rule_id: str, definition: Mapping[str, Any]) -> list[FieldError]:
    if "id" in definition:
        return [FieldError(pointer="/definition/id", message=_("the id is not part of the definition"))]
    try:
        (rule,) = read_rules([{**definition, "id": rule_id}])
    except Invalid as error:
        return [
            FieldError(
                pointer="/definition" + one.pointer.removeprefix("/0"), message=one.message, code=one.code
            )
            for one in error.errors
        ]
    if not rule.source:
        return [FieldError(pointer="/definition/source", message=_("say where the rule is from"))]
    return []
