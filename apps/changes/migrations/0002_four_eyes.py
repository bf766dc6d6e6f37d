"""What this migration guarded is guarded in guards.py now."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("changes", "0001_changes_and_rollbacks")]
    operations = []
