"""A reason that the portal wrote keeps what says it in another language; earlier ones keep their text."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("fleet", "0005_find_cards_by_identity")]

    operations = [
        migrations.AddField(model_name="hold", name="reason_said", field=models.JSONField(null=True)),
    ]
