"""What this migration guarded is guarded in guards.py now."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("fleet", "0001_fleet_and_holds")]
    operations = []
