"""A Prometheus server may ask for credentials, and each is asked at a pace of its own."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("health", "0001_states_and_faults")]

    operations = [
        migrations.AddField(
            model_name="metricssource", name="every_s", field=models.PositiveIntegerField(default=300)
        ),
        migrations.AddField(
            model_name="metricssource",
            name="auth",
            field=models.CharField(
                choices=[
                    ("none", "without credentials"),
                    ("bearer", "bearer token"),
                    ("basic", "user name and password"),
                ],
                default="none",
                max_length=6,
            ),
        ),
        migrations.AddField(
            model_name="metricssource",
            name="username",
            field=models.CharField(blank=True, default="", max_length=120),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="metricssource",
            name="secret",
            field=models.TextField(blank=True, default=""),
            preserve_default=False,
        ),
    ]
