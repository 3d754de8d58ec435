from django.db import migrations, models

from core.indexing import AddIndexMeanwhile


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('core', '0025_count_rows'),
    ]

    operations = [
        AddIndexMeanwhile(
            model_name='dagrun',
            index=models.Index(condition=models.Q(('run_id__startswith', 'asset_materialization__')), fields=['-id'], name='run_of_materialization'),
        ),
    ]
