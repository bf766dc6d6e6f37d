"""A locked matrix version and what a known-good one ran with stay as they are; a demonstration may be removed."""

from __future__ import annotations

from collections.abc import Iterator

from apps.core.triggers import Guard

_LOCKED = "a locked matrix stays as it is"
_VERSION = "environments_matrixversion"
_DEMO_OF_MATRIX = """(SELECT is_demo FROM fleet_cluster JOIN environments_matrix
    ON environments_matrix.cluster_id = fleet_cluster.id WHERE environments_matrix.id = {matrix})"""
_DEMO_OF_VERSION = _DEMO_OF_MATRIX.format(matrix="OLD.matrix_id")
_DEMO_OF_PART = _DEMO_OF_MATRIX.format(
    matrix=f"(SELECT matrix_id FROM {_VERSION} WHERE id = OLD.matrix_version_id)"
)
_REWRITTEN = """(NEW.state = 'draft' OR NEW.digest <> OLD.digest OR NEW.number <> OLD.number
    OR NEW.matrix_id <> OLD.matrix_id OR NEW.override_reason <> OLD.override_reason
    OR NEW.locked_at IS NULL OR NEW.locked_at <> OLD.locked_at
    OR (OLD.known_good_at IS NOT NULL
        AND (NEW.known_good_at IS NULL OR NEW.known_good_at <> OLD.known_good_at)))"""


def _of_version(row: str, condition: str) -> str:
    return f"EXISTS (SELECT 1 FROM {_VERSION} WHERE id = {row}.matrix_version_id AND {condition})"


def _fixed(name: str, table: str, condition: str, message: str) -> Iterator[Guard]:
    """Rows of a table stay as they are while their version fulfils a condition."""
    old, new = _of_version("OLD", condition), _of_version("NEW", condition)
    for event, when in (
        ("INSERT", new),
        ("UPDATE", f"{old} OR {new}"),
        ("DELETE", f"{old} AND {_DEMO_OF_PART} IS NOT TRUE"),
    ):
        yield Guard(name=f"{name}_no_{event.lower()}", table=table, event=event, when=when, message=message)


GUARDS = [
    Guard(
        name="environments_matrix_cluster",
        table="environments_matrix",
        event="UPDATE OF cluster_id",
        when="NEW.cluster_id <> OLD.cluster_id",
        message="a matrix stays in its cluster",
    ),
    Guard(
        name="environments_matrix_no_delete",
        table="environments_matrix",
        event="DELETE",
        when="(SELECT is_demo FROM fleet_cluster WHERE id = OLD.cluster_id) IS NOT TRUE",
        message="a matrix stays in its cluster",
    ),
    *_fixed("environments_entry", "environments_matrixentry", "state <> 'draft'", _LOCKED),
    *_fixed(
        "environments_observed",
        "environments_observedversion",
        "known_good_at IS NOT NULL",
        "what was known to be good stays as it is",
    ),
    Guard(
        name="environments_version_no_update",
        table=_VERSION,
        event="UPDATE",
        when=f"OLD.state <> 'draft' AND {_REWRITTEN}",
        message=_LOCKED,
    ),
    Guard(
        name="environments_version_no_delete",
        table=_VERSION,
        event="DELETE",
        when=f"OLD.state <> 'draft' AND {_DEMO_OF_VERSION} IS NOT TRUE",
        message=_LOCKED,
    ),
]
