from django.db import migrations, models

from core.indexing import AddIndexMeanwhile


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('core', '0029_lost_workers'),
    ]

    operations = [
        AddIndexMeanwhile(
            model_name='dagrun',
            index=models.Index(fields=[column, 'id'], name=name),
        )
        for column, name in (
            ('started_at', 'run_by_start'),
            ('ended_at', 'run_by_end'),
            ('updated_at', 'run_by_change'),
        )
    ]
