"""The trail, and the head of its empty chain."""

from django.db import migrations, models


def begin_chain(apps, schema_editor):
    """Write the head of the empty chain."""
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
        migrations.RunPython(begin_chain, migrations.RunPython.noop),
    ]
