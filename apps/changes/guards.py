"""Four eyes in the database: requester, last editor and executor approve nothing; what was decided stays."""

from __future__ import annotations

from apps.core.triggers import Guard, refusal

_SQLITE, _POSTGRESQL = refusal("four eyes: who asked for, edited or carries out a change cannot approve it")
_KEPT_SQLITE, _KEPT_POSTGRESQL = refusal("approvals and snapshots are kept as they are")

_INVOLVED = """EXISTS (SELECT 1 FROM changes_change WHERE id = NEW.change_id AND
    (requester_id = NEW.person_id OR last_editor_id = NEW.person_id OR executor_id = NEW.person_id))"""
_APPROVED = """EXISTS (SELECT 1 FROM changes_approval WHERE change_id = NEW.id AND approves
    AND person_id = NEW.executor_id AND content_digest = NEW.content_digest)"""
_DEMO = """(SELECT is_demo FROM fleet_cluster JOIN changes_change
    ON changes_change.cluster_id = fleet_cluster.id WHERE changes_change.id = OLD.change_id)"""


def _kept(table: str) -> list[Guard]:
    return [
        Guard(
            name=f"{table}_no_update",
            table=table,
            sqlite=f"BEFORE UPDATE ON {table} BEGIN {_KEPT_SQLITE} END",
            event="BEFORE UPDATE",
            body=_KEPT_POSTGRESQL,
        ),
        Guard(
            name=f"{table}_no_delete",
            table=table,
            sqlite=f"BEFORE DELETE ON {table} WHEN NOT {_DEMO} BEGIN {_KEPT_SQLITE} END",
            event="BEFORE DELETE",
            body=f"IF NOT {_DEMO} THEN {_KEPT_POSTGRESQL} END IF; RETURN OLD;",
        ),
    ]


GUARDS = [
    Guard(
        name="changes_four_eyes",
        table="changes_approval",
        sqlite=f"BEFORE INSERT ON changes_approval WHEN {_INVOLVED} BEGIN {_SQLITE} END",
        event="BEFORE INSERT",
        body=f"IF {_INVOLVED} THEN {_POSTGRESQL} END IF; RETURN NEW;",
    ),
    Guard(
        name="changes_executor",
        table="changes_change",
        sqlite="BEFORE UPDATE OF executor_id ON changes_change "
        f"WHEN NEW.executor_id IS NOT NULL AND {_APPROVED} BEGIN {_SQLITE} END",
        event="BEFORE UPDATE OF executor_id",
        when="NEW.executor_id IS NOT NULL",
        body=f"IF {_APPROVED} THEN {_POSTGRESQL} END IF; RETURN NEW;",
    ),
    *_kept("changes_approval"),
    *_kept("changes_snapshot"),
]
