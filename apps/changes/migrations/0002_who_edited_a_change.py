"""Everybody who edits a change is kept; of changes that are there, the audit trail knows who did."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def name_editors(apps, schema_editor):
    ChangeEditor = apps.get_model("changes", "ChangeEditor")
    at_of, changes = {}, set()
    for change in apps.get_model("changes", "Change").objects.order_by("pk"):
        changes.add(str(change.pk))
        at_of[change.pk, change.requester_id] = change.created_at
        at_of.setdefault((change.pk, change.last_editor_id), change.edited_at or change.created_at)
    people = set(apps.get_model("accounts", "Person").objects.values_list("pk", flat=True))
    edits = apps.get_model("audit", "AuditEvent").objects.filter(action="change.edited", actor_id__in=people)
    for object_id, person_id, at in edits.order_by("seq").values_list("object_id", "actor_id", "at"):
        if object_id in changes:
            at_of.setdefault((int(object_id), person_id), at)
    ChangeEditor.objects.bulk_create(
        [ChangeEditor(change_id=change, person_id=person, at=at) for (change, person), at in at_of.items()]
    )


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0001_events_and_head"),
        ("changes", "0001_changes_and_rollbacks"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ChangeEditor",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
                (
                    "change",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="editors",
                        to="changes.change",
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
                    models.UniqueConstraint(fields=["change", "person"], name="changes_editor_once")
                ],
            },
        ),
        migrations.RunPython(name_editors, migrations.RunPython.noop),
    ]
