"""Runs keep why their figures may be no measurement, and which collectives these figures allow."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("benchmarks", "0001_runs_and_baselines")]

    operations = [
        migrations.AddField("benchmarkrun", "candidates", models.JSONField(default=list)),
        migrations.AddField("benchmarkrun", "doubts", models.JSONField(default=list)),
    ]
