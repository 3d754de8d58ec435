"""Indexes of few runs each. Nobody waits while the whole table is read for them."""

from django.db import migrations, models

from core.indexing import AddIndexMeanwhile


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('core', '0025_count_rows'),
    ]

    operations = [
        migrations.RunSQL(
            """
            UPDATE core_dagrun SET is_fired_short = TRUE
            WHERE created_by <> '' AND CAST(missing_keys AS TEXT) <> '[]' AND NOT is_fired_short
            """,
            migrations.RunSQL.noop,
        ),
        AddIndexMeanwhile(
            model_name='dagrun',
            index=models.Index(condition=models.Q(('is_fired_short', True)), fields=['-id'], name='run_fired_short'),
        ),
        AddIndexMeanwhile(
            model_name='dagrun',
            index=models.Index(condition=models.Q(('run_id__startswith', 'asset_materialization__')), fields=['-id'], name='run_of_materialization'),
        ),
    ]
