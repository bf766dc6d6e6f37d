"""Everybody who edits a launch is kept; of launches that are there, the audit trail knows who did."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def name_editors(apps, schema_editor):
    LaunchEditor = apps.get_model("launches", "LaunchEditor")
    at_of, launches = {}, {}
    for launch in apps.get_model("launches", "Launch").objects.order_by("opened_at"):
        launches[str(launch.pk)] = launch.pk
        at_of[launch.pk, launch.opened_by_id] = launch.opened_at
    people = set(apps.get_model("accounts", "Person").objects.values_list("pk", flat=True))
    edits = apps.get_model("audit", "AuditEvent").objects.filter(action="launch.edited", actor_id__in=people)
    for object_id, person_id, at in edits.order_by("seq").values_list("object_id", "actor_id", "at"):
        if object_id in launches:
            at_of.setdefault((launches[object_id], person_id), at)
    LaunchEditor.objects.bulk_create(
        [LaunchEditor(launch_id=launch, person_id=person, at=at) for (launch, person), at in at_of.items()]
    )


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0001_events_and_head"),
        ("launches", "0001_launches_and_evaluations"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="LaunchEditor",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
                (
                    "launch",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="editors",
                        to="launches.launch",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=("launch", "person"), name="launches_editor_once")
                ],
            },
        ),
        migrations.RunPython(name_editors, migrations.RunPython.noop),
    ]
