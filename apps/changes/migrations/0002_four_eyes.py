"""Triggers: no approval by requester, last editor or executor; approvals and snapshots stay as they are."""

from django.db import migrations

_MESSAGE = "four eyes: who asked for, edited or carries out a change cannot approve it"
_KEPT = "approvals and snapshots are kept as they are"
_INVOLVED = """SELECT 1 FROM changes_change WHERE id = NEW.change_id
    AND (requester_id = NEW.person_id OR last_editor_id = NEW.person_id OR executor_id = NEW.person_id)"""
_APPROVED = """SELECT 1 FROM changes_approval WHERE change_id = NEW.id AND approves
    AND person_id = NEW.executor_id AND content_digest = NEW.content_digest"""
# Demonstration data may be removed whole; a cluster is made as one and cannot become one.
_IS_DEMO = """(SELECT is_demo FROM fleet_cluster JOIN changes_change
    ON changes_change.cluster_id = fleet_cluster.id WHERE changes_change.id = OLD.change_id)"""

SQLITE = [
    f"""CREATE TRIGGER changes_four_eyes BEFORE INSERT ON changes_approval
        WHEN EXISTS ({_INVOLVED}) BEGIN SELECT RAISE(ABORT, '{_MESSAGE}'); END""",
    f"""CREATE TRIGGER changes_executor BEFORE UPDATE OF executor_id ON changes_change
        WHEN NEW.executor_id IS NOT NULL AND EXISTS ({_APPROVED})
        BEGIN SELECT RAISE(ABORT, '{_MESSAGE}'); END""",
    *(
        f"""CREATE TRIGGER changes_{table}_update BEFORE UPDATE ON changes_{table}
            BEGIN SELECT RAISE(ABORT, '{_KEPT}'); END"""
        for table in ("approval", "snapshot")
    ),
    *(
        f"""CREATE TRIGGER changes_{table}_delete BEFORE DELETE ON changes_{table}
            WHEN NOT {_IS_DEMO} BEGIN SELECT RAISE(ABORT, '{_KEPT}'); END"""
        for table in ("approval", "snapshot")
    ),
]
POSTGRESQL = [
    f"""CREATE FUNCTION changes_four_eyes() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF EXISTS ({_INVOLVED}) THEN RAISE EXCEPTION '{_MESSAGE}'; END IF;
          RETURN NEW;
        END $$""",
    """CREATE TRIGGER changes_four_eyes BEFORE INSERT ON changes_approval
       FOR EACH ROW EXECUTE FUNCTION changes_four_eyes()""",
    f"""CREATE FUNCTION changes_executor() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF EXISTS ({_APPROVED}) THEN RAISE EXCEPTION '{_MESSAGE}'; END IF;
          RETURN NEW;
        END $$""",
    """CREATE TRIGGER changes_executor BEFORE UPDATE OF executor_id ON changes_change
       FOR EACH ROW WHEN (NEW.executor_id IS NOT NULL) EXECUTE FUNCTION changes_executor()""",
    f"""CREATE FUNCTION changes_kept() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF TG_OP = 'DELETE' AND {_IS_DEMO} THEN RETURN OLD; END IF;
          RAISE EXCEPTION '{_KEPT}';
        END $$""",
    *(
        f"""CREATE TRIGGER changes_{table}_kept BEFORE UPDATE OR DELETE ON changes_{table}
            FOR EACH ROW EXECUTE FUNCTION changes_kept()"""
        for table in ("approval", "snapshot")
    ),
]


def guard(apps, schema_editor):
    for statement in {"sqlite": SQLITE, "postgresql": POSTGRESQL}[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("changes", "0001_changes_and_rollbacks")]
    operations = [migrations.RunPython(guard, migrations.RunPython.noop)]
