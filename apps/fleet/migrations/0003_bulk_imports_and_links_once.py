"""Bulk imports; a switch has one link, of any number of cables, to each thing below it."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("fleet", "0002_demonstration_stays_marked"),
        ("jobs", "0002_signs_of_life_and_versions"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="BulkImport",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("file_name", models.CharField(blank=True, max_length=255)),
                ("sha256", models.CharField(max_length=64)),
                ("size_bytes", models.BigIntegerField()),
                ("content", models.BinaryField()),
                ("form", models.CharField(blank=True, max_length=4)),
                ("table", models.CharField(blank=True, max_length=12)),
                ("mode", models.CharField(max_length=6)),
                ("columns", models.JSONField(null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waits for a worker"),
                            ("planned", "looked at"),
                            ("refused", "refused"),
                            ("applied", "applied"),
                        ],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("apply_at_once", models.BooleanField(default=False)),
                ("row_count", models.PositiveIntegerField(null=True)),
                ("head", models.JSONField(default=list)),
                ("counts", models.JSONField(default=dict)),
                ("outcome", models.BinaryField(null=True)),
                ("plan_digest", models.CharField(blank=True, max_length=64)),
                ("problem", models.JSONField(null=True)),
                ("asked_label", models.CharField(max_length=200)),
                ("asked_at", models.DateTimeField()),
                ("applied_at", models.DateTimeField(null=True)),
                ("applied_label", models.CharField(blank=True, max_length=200)),
                ("version", models.PositiveIntegerField(default=1)),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.AddConstraint(
            model_name="link",
            constraint=models.UniqueConstraint(
                fields=("upper", "accelerator"), name="fleet_link_accelerator_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="link",
            constraint=models.UniqueConstraint(fields=("upper", "node"), name="fleet_link_node_once"),
        ),
        migrations.AddConstraint(
            model_name="link",
            constraint=models.UniqueConstraint(fields=("upper", "lower"), name="fleet_link_lower_once"),
        ),
        migrations.AddField(
            model_name="bulkimport",
            name="asked_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="bulkimport",
            name="cluster",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="fleet.cluster"
            ),
        ),
        migrations.AddField(
            model_name="bulkimport",
            name="job",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.job"
            ),
        ),
        migrations.AddIndex(
            model_name="bulkimport",
            index=models.Index(fields=["cluster", "-id"], name="fleet_import_newest"),
        ),
    ]
