"""The column alone, which locks runs for a moment: 0026 fills it and makes its index, while others write."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0022_drop_what_nobody_reads'),
    ]

    operations = [
        migrations.AddField(
            model_name='dagrun',
            name='is_fired_short',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
