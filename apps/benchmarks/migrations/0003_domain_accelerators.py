"""Runs keep how large their domain was: one over more ranks left it, and is not judged by its links."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("benchmarks", "0002_doubts_and_candidates")]

    operations = [
        migrations.AddField("benchmarkrun", "domain_accelerators", models.PositiveIntegerField(null=True)),
    ]
