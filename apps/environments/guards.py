"""A locked matrix version and its entries stay as they are; those of a demonstration may be removed."""

from __future__ import annotations

from apps.core.triggers import Guard, refusal

_SQLITE, _POSTGRESQL = refusal("a locked matrix stays as it is")
_GOOD_SQLITE, _GOOD_POSTGRESQL = refusal("what was known to be good stays as it is")
_ENTRY, _VERSION = "environments_matrixentry", "environments_matrixversion"
_OBSERVED = "environments_observedversion"

_DEMO_OF_MATRIX = """(SELECT is_demo FROM fleet_cluster JOIN environments_matrix
    ON environments_matrix.cluster_id = fleet_cluster.id WHERE environments_matrix.id = {matrix})"""
_DEMO_OF_VERSION = _DEMO_OF_MATRIX.format(matrix="OLD.matrix_id")
_DEMO_OF_ENTRY = _DEMO_OF_MATRIX.format(
    matrix=f"(SELECT matrix_id FROM {_VERSION} WHERE id = OLD.matrix_version_id)"
)


def _locked(row: str) -> str:
    return f"(SELECT state FROM {_VERSION} WHERE id = {row}.matrix_version_id) <> 'draft'"


def _known_good(row: str) -> str:
    return f"(SELECT known_good_at FROM {_VERSION} WHERE id = {row}.matrix_version_id) IS NOT NULL"


_REWRITTEN = """NEW.state = 'draft' OR NEW.digest <> OLD.digest OR NEW.number <> OLD.number
    OR NEW.matrix_id <> OLD.matrix_id OR NEW.override_reason <> OLD.override_reason
    OR NEW.locked_at {differs} OLD.locked_at"""

GUARDS = [
    Guard(
        name="environments_entry_no_insert",
        table=_ENTRY,
        sqlite=f"BEFORE INSERT ON {_ENTRY} WHEN {_locked('NEW')} BEGIN {_SQLITE} END",
        event="BEFORE INSERT",
        body=f"IF {_locked('NEW')} THEN {_POSTGRESQL} END IF; RETURN NEW;",
    ),
    Guard(
        name="environments_entry_no_update",
        table=_ENTRY,
        sqlite=f"BEFORE UPDATE ON {_ENTRY} WHEN {_locked('OLD')} OR {_locked('NEW')} BEGIN {_SQLITE} END",
        event="BEFORE UPDATE",
        body=f"IF {_locked('OLD')} OR {_locked('NEW')} THEN {_POSTGRESQL} END IF; RETURN NEW;",
    ),
    Guard(
        name="environments_entry_no_delete",
        table=_ENTRY,
        sqlite=f"BEFORE DELETE ON {_ENTRY} WHEN {_locked('OLD')} AND NOT {_DEMO_OF_ENTRY} BEGIN {_SQLITE} END",
        event="BEFORE DELETE",
        body=f"IF {_locked('OLD')} AND NOT {_DEMO_OF_ENTRY} THEN {_POSTGRESQL} END IF; RETURN OLD;",
    ),
    Guard(
        name="environments_version_no_update",
        table=_VERSION,
        sqlite=f"BEFORE UPDATE ON {_VERSION} WHEN OLD.state <> 'draft' AND "
        f"({_REWRITTEN.format(differs='IS NOT')}) BEGIN {_SQLITE} END",
        event="BEFORE UPDATE",
        when=f"OLD.state <> 'draft' AND ({_REWRITTEN.format(differs='IS DISTINCT FROM')})",
        body=_POSTGRESQL,
    ),
    Guard(
        name="environments_version_no_delete",
        table=_VERSION,
        sqlite=f"BEFORE DELETE ON {_VERSION} WHEN OLD.state <> 'draft' AND NOT {_DEMO_OF_VERSION} BEGIN {_SQLITE} END",
        event="BEFORE DELETE",
        when="OLD.state <> 'draft'",
        body=f"IF NOT {_DEMO_OF_VERSION} THEN {_POSTGRESQL} END IF; RETURN OLD;",
    ),
    Guard(
        name="environments_observed_no_insert",
        table=_OBSERVED,
        sqlite=f"BEFORE INSERT ON {_OBSERVED} WHEN {_known_good('NEW')} BEGIN {_GOOD_SQLITE} END",
        event="BEFORE INSERT",
        body=f"IF {_known_good('NEW')} THEN {_GOOD_POSTGRESQL} END IF; RETURN NEW;",
    ),
    Guard(
        name="environments_observed_no_update",
        table=_OBSERVED,
        sqlite=f"BEFORE UPDATE ON {_OBSERVED} WHEN {_known_good('OLD')} OR {_known_good('NEW')} "
        f"BEGIN {_GOOD_SQLITE} END",
        event="BEFORE UPDATE",
        body=f"IF {_known_good('OLD')} OR {_known_good('NEW')} THEN {_GOOD_POSTGRESQL} END IF; RETURN NEW;",
    ),
    Guard(
        name="environments_observed_no_delete",
        table=_OBSERVED,
        sqlite=f"BEFORE DELETE ON {_OBSERVED} WHEN {_known_good('OLD')} AND NOT {_DEMO_OF_ENTRY} "
        f"BEGIN {_GOOD_SQLITE} END",
        event="BEFORE DELETE",
        body=f"IF {_known_good('OLD')} AND NOT {_DEMO_OF_ENTRY} THEN {_GOOD_POSTGRESQL} END IF; RETURN OLD;",
    ),
]
