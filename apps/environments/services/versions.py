"""What all decisions about matrix versions share: who may write, what is written down, and moving on."""

from __future__ import annotations

from typing import Any

from django.db.models import F
from django.utils.translation import gettext as _

from apps.audit.services import record
from apps.core.actor import Actor
from apps.core.errors import Conflict, Stale
from apps.core.rights import Right, TokenScope
from apps.environments.models import MatrixEntry, MatrixState, MatrixVersion
from apps.fleet.models import Cluster


def may_write(actor: Actor, cluster: Cluster) -> None:
    """Raises Missing, NotAllowed."""
    actor.require(Right.OPERATE, cluster.scope_id)
    actor.require_token_scope(TokenScope.ENVIRONMENT_WRITE)


def touch(version: MatrixVersion, expected_version: int) -> None:
    """Move a draft to its next edit. Raises Stale where it was edited meanwhile, Conflict where it is no draft."""
    moved = MatrixVersion.objects.filter(
        pk=version.pk, state=MatrixState.DRAFT, version=expected_version
    ).update(version=F("version") + 1)
    if not moved:
        refuse_move(version, expected_version)


def refuse_move(version: MatrixVersion, expected_version: int) -> None:
    """Raise what kept a conditional update from finding its row: Stale or Conflict."""
    version.refresh_from_db()
    if version.version != expected_version:
        raise Stale(_("the matrix was changed meanwhile; look at it again"), version=version.version)
    raise Conflict(
        _("the version is %(state)s") % {"state": version.get_state_display()},
        code="matrix_state",
        state=version.state,
    )


def entry_facts(version: MatrixVersion) -> dict[str, Any]:
    """Component to what is asked of it, for digests and the trail."""
    rows = MatrixEntry.objects.filter(matrix_version=version).order_by("component")
    return {row.component: _entry(row) for row in rows}


def _entry(row: MatrixEntry) -> dict[str, Any]:
    read_as = {"scheme": row.scheme} if row.scheme else {}
    depth = {} if row.branch_depth is None else {"branch_depth": row.branch_depth}
    return {"rule": row.rule, "values": row.values} | read_as | depth


def note(actor: Actor, action: str, version: MatrixVersion, **said: Any) -> None:
    """Write an event about a version down."""
    record(actor=actor, action=action, on=version, scope_id=version.matrix.cluster.scope_id, **said)
