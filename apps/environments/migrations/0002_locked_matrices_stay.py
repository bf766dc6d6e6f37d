"""Triggers: entries of a locked version, and what it was locked with, cannot be changed any more."""

from django.db import migrations

_STATE = "(SELECT state FROM environments_matrixversion WHERE id = {row}.matrix_version_id)"
_SQLITE_ENTRY = """CREATE TRIGGER environments_entry_no_{name} BEFORE {event} ON environments_matrixentry
    WHEN {condition} BEGIN SELECT RAISE(ABORT, 'a locked matrix stays as it is'); END"""
_OLD = _STATE.format(row="OLD") + " <> 'draft'"
_NEW = _STATE.format(row="NEW") + " <> 'draft'"
# Demonstration data may be removed whole; a cluster is made as one and cannot become one.
_DEMO_OF_MATRIX = """(SELECT is_demo FROM fleet_cluster JOIN environments_matrix
    ON environments_matrix.cluster_id = fleet_cluster.id WHERE environments_matrix.id = {matrix})"""
_DEMO = _DEMO_OF_MATRIX.format(matrix="OLD.matrix_id")
_DEMO_OF_ENTRY = _DEMO_OF_MATRIX.format(
    matrix="(SELECT matrix_id FROM environments_matrixversion WHERE id = OLD.matrix_version_id)"
)

SQLITE = [
    _SQLITE_ENTRY.format(name="insert", event="INSERT", condition=_NEW),
    _SQLITE_ENTRY.format(name="update", event="UPDATE", condition=f"{_OLD} OR {_NEW}"),
    _SQLITE_ENTRY.format(name="delete", event="DELETE", condition=f"{_OLD} AND NOT {_DEMO_OF_ENTRY}"),
    """CREATE TRIGGER environments_version_locked BEFORE UPDATE ON environments_matrixversion
       WHEN OLD.state <> 'draft' AND (NEW.state = 'draft' OR NEW.digest <> OLD.digest
         OR NEW.number <> OLD.number OR NEW.matrix_id <> OLD.matrix_id OR NEW.locked_at IS NOT OLD.locked_at
         OR NEW.override_reason <> OLD.override_reason)
       BEGIN SELECT RAISE(ABORT, 'a locked matrix stays as it is'); END""",
    f"""CREATE TRIGGER environments_version_kept BEFORE DELETE ON environments_matrixversion
       WHEN OLD.state <> 'draft' AND NOT {_DEMO} BEGIN SELECT RAISE(ABORT, 'a locked matrix stays as it is'); END""",
]
POSTGRESQL = [
    f"""CREATE FUNCTION environments_entry_guard() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN
         IF TG_OP = 'DELETE' AND {_DEMO_OF_ENTRY} THEN RETURN OLD; END IF;
         IF TG_OP <> 'INSERT' AND EXISTS (SELECT 1 FROM environments_matrixversion
             WHERE id = OLD.matrix_version_id AND state <> 'draft') THEN
           RAISE EXCEPTION 'a locked matrix stays as it is';
         END IF;
         IF TG_OP <> 'DELETE' AND EXISTS (SELECT 1 FROM environments_matrixversion
             WHERE id = NEW.matrix_version_id AND state <> 'draft') THEN
           RAISE EXCEPTION 'a locked matrix stays as it is';
         END IF;
         IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
         RETURN NEW;
       END $$""",
    """CREATE TRIGGER environments_entry_locked BEFORE INSERT OR UPDATE OR DELETE ON environments_matrixentry
       FOR EACH ROW EXECUTE FUNCTION environments_entry_guard()""",
    f"""CREATE FUNCTION environments_version_guard() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN
         IF TG_OP = 'DELETE' AND {_DEMO} THEN RETURN OLD; END IF;
         IF TG_OP = 'DELETE' THEN RAISE EXCEPTION 'a locked matrix stays as it is'; END IF;
         IF NEW.state = 'draft' OR NEW.digest <> OLD.digest OR NEW.number <> OLD.number
            OR NEW.matrix_id <> OLD.matrix_id OR NEW.locked_at IS DISTINCT FROM OLD.locked_at
            OR NEW.override_reason <> OLD.override_reason THEN
           RAISE EXCEPTION 'a locked matrix stays as it is';
         END IF;
         RETURN NEW;
       END $$""",
    """CREATE TRIGGER environments_version_locked BEFORE UPDATE OR DELETE ON environments_matrixversion
       FOR EACH ROW WHEN (OLD.state <> 'draft') EXECUTE FUNCTION environments_version_guard()""",
]


def guard(apps, schema_editor):
    for statement in {"sqlite": SQLITE, "postgresql": POSTGRESQL}[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("environments", "0001_matrices_facts_drift")]
    operations = [migrations.RunPython(guard, migrations.RunPython.noop)]
