"""Triggers: evaluations that are done, answers and signatures stay as they are; the opener does not sign."""

from django.db import migrations

_KEPT = "evaluations, answers and signatures are kept as they are"
_MESSAGE = "four eyes: who opened a launch does not sign it"
_OPENER = """SELECT 1 FROM launches_launch JOIN launches_evaluation
    ON launches_evaluation.launch_id = launches_launch.id
    WHERE launches_evaluation.id = NEW.evaluation_id AND launches_launch.opened_by_id = NEW.person_id"""
# Demonstration data may be removed whole; a cluster is made as one and cannot become one.
_OF_LAUNCH = """(SELECT is_demo FROM fleet_cluster JOIN launches_launch
    ON launches_launch.cluster_id = fleet_cluster.id WHERE launches_launch.id = OLD.launch_id)"""
_OF_EVALUATION = """(SELECT is_demo FROM fleet_cluster JOIN launches_launch
    ON launches_launch.cluster_id = fleet_cluster.id JOIN launches_evaluation
    ON launches_evaluation.launch_id = launches_launch.id
    WHERE launches_evaluation.id = OLD.evaluation_id)"""
_TABLES = (("answer", _OF_LAUNCH), ("signoff", _OF_EVALUATION))

SQLITE = [
    f"""CREATE TRIGGER launches_opener BEFORE INSERT ON launches_signoff
        WHEN EXISTS ({_OPENER}) BEGIN SELECT RAISE(ABORT, '{_MESSAGE}'); END""",
    f"""CREATE TRIGGER launches_evaluation_kept BEFORE UPDATE ON launches_evaluation
        WHEN OLD.done_at IS NOT NULL BEGIN SELECT RAISE(ABORT, '{_KEPT}'); END""",
    f"""CREATE TRIGGER launches_evaluation_stays BEFORE DELETE ON launches_evaluation
        WHEN OLD.done_at IS NOT NULL AND NOT {_OF_LAUNCH} BEGIN SELECT RAISE(ABORT, '{_KEPT}'); END""",
    *(
        f"""CREATE TRIGGER launches_{table}_update BEFORE UPDATE ON launches_{table}
            BEGIN SELECT RAISE(ABORT, '{_KEPT}'); END"""
        for table, _is_demo in _TABLES
    ),
    *(
        f"""CREATE TRIGGER launches_{table}_delete BEFORE DELETE ON launches_{table}
            WHEN NOT {is_demo} BEGIN SELECT RAISE(ABORT, '{_KEPT}'); END"""
        for table, is_demo in _TABLES
    ),
]
POSTGRESQL = [
    f"""CREATE FUNCTION launches_opener() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF EXISTS ({_OPENER}) THEN RAISE EXCEPTION '{_MESSAGE}'; END IF;
          RETURN NEW;
        END $$""",
    """CREATE TRIGGER launches_opener BEFORE INSERT ON launches_signoff
       FOR EACH ROW EXECUTE FUNCTION launches_opener()""",
    *(
        f"""CREATE FUNCTION launches_{table}_kept() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
              IF TG_OP = 'DELETE' AND {is_demo} THEN RETURN OLD; END IF;
              RAISE EXCEPTION '{_KEPT}';
            END $$"""
        for table, is_demo in (*_TABLES, ("evaluation", _OF_LAUNCH))
    ),
    """CREATE TRIGGER launches_evaluation_kept BEFORE UPDATE OR DELETE ON launches_evaluation
       FOR EACH ROW WHEN (OLD.done_at IS NOT NULL) EXECUTE FUNCTION launches_evaluation_kept()""",
    *(
        f"""CREATE TRIGGER launches_{table}_kept BEFORE UPDATE OR DELETE ON launches_{table}
            FOR EACH ROW EXECUTE FUNCTION launches_{table}_kept()"""
        for table, _is_demo in _TABLES
    ),
]


def guard(apps, schema_editor):
    for statement in {"sqlite": SQLITE, "postgresql": POSTGRESQL}[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("launches", "0001_launches_and_evaluations")]
    operations = [migrations.RunPython(guard, migrations.RunPython.noop)]
