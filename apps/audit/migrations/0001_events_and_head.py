"""The trail and its head, and triggers that keep events from being changed, removed or emptied."""

from django.db import migrations, models

SQLITE = [
    """CREATE TRIGGER audit_event_no_update BEFORE UPDATE ON audit_auditevent
       BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END""",
    """CREATE TRIGGER audit_event_no_delete BEFORE DELETE ON audit_auditevent
       BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END""",
]
POSTGRESQL = [
    """CREATE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION 'the audit trail is append-only'; END $$""",
    """CREATE TRIGGER audit_event_no_change BEFORE UPDATE OR DELETE ON audit_auditevent
       FOR EACH ROW EXECUTE FUNCTION audit_append_only()""",
    """CREATE TRIGGER audit_event_no_truncate BEFORE TRUNCATE ON audit_auditevent
       FOR EACH STATEMENT EXECUTE FUNCTION audit_append_only()""",
]


def guard(apps, schema_editor):
    """Put the triggers in place and write the head of the empty chain."""
    for statement in {"sqlite": SQLITE, "postgresql": POSTGRESQL}[schema_editor.connection.vendor]:
        schema_editor.execute(statement)
    apps.get_model("audit", "AuditHead").objects.create(pk=1, seq=0, hash="0" * 64)


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.CreateModel(
            name="AuditEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("seq", models.BigIntegerField(unique=True)),
                ("at", models.DateTimeField(db_index=True)),
                ("action", models.CharField(db_index=True, max_length=80)),
                ("actor_id", models.BigIntegerField(db_index=True, null=True)),
                ("actor_label", models.CharField(max_length=200)),
                ("via", models.CharField(max_length=20)),
                ("object_type", models.CharField(max_length=80)),
                ("object_id", models.CharField(max_length=64)),
                ("object_label", models.CharField(max_length=200)),
                ("scope_id", models.BigIntegerField(db_index=True, null=True)),
                ("request_id", models.CharField(blank=True, max_length=64)),
                ("body", models.TextField()),
                ("prev_hash", models.CharField(max_length=64, unique=True)),
                ("hash", models.CharField(max_length=64, unique=True)),
            ],
            options={
                "ordering": ["-seq"],
                "indexes": [models.Index(fields=["object_type", "object_id"], name="audit_event_object")],
            },
        ),
        migrations.CreateModel(
            name="AuditHead",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("seq", models.BigIntegerField()),
                ("hash", models.CharField(max_length=64)),
            ],
        ),
        migrations.RunPython(guard, migrations.RunPython.noop),
    ]
