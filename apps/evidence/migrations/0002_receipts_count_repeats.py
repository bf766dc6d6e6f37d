"""A delivery counts the unchanged reports that follow it."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evidence", "0001_receipts_and_readings")]

    operations = [
        migrations.AddField(model_name="receipt", name="times", field=models.PositiveIntegerField(default=1)),
        migrations.AddField(
            model_name="receipt", name="last_received_at", field=models.DateTimeField(null=True)
        ),
        migrations.AddField(model_name="receipt", name="last_said_at", field=models.DateTimeField(null=True)),
    ]
