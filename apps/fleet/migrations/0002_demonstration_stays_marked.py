"""Trigger: a cluster is made as a demonstration or not, and stays so, because only that may be removed whole."""

from django.db import migrations

_MESSAGE = "what is a demonstration stays one, and nothing else becomes one"
SQLITE = [
    f"""CREATE TRIGGER fleet_cluster_demo BEFORE UPDATE OF is_demo ON fleet_cluster
        WHEN NEW.is_demo <> OLD.is_demo BEGIN SELECT RAISE(ABORT, '{_MESSAGE}'); END""",
]
POSTGRESQL = [
    f"""CREATE FUNCTION fleet_cluster_demo() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION '{_MESSAGE}'; END $$""",
    """CREATE TRIGGER fleet_cluster_demo BEFORE UPDATE OF is_demo ON fleet_cluster
       FOR EACH ROW WHEN (NEW.is_demo <> OLD.is_demo) EXECUTE FUNCTION fleet_cluster_demo()""",
]


def guard(apps, schema_editor):
    for statement in {"sqlite": SQLITE, "postgresql": POSTGRESQL}[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("fleet", "0001_fleet_and_holds")]
    operations = [migrations.RunPython(guard, migrations.RunPython.noop)]
