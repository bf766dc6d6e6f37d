"""Changes know how often their content was edited, and what led to them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("changes", "0002_four_eyes")]

    operations = [
        migrations.AddField(
            model_name="change",
            name="revision",
            field=models.PositiveIntegerField(default=1),
        ),
        migrations.AddField(
            model_name="change",
            name="edited_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="change",
            name="origin_label",
            field=models.CharField(blank=True, max_length=200),
        ),
        migrations.AddField(
            model_name="change",
            name="origin_path",
            field=models.CharField(blank=True, db_index=True, max_length=200),
        ),
    ]
