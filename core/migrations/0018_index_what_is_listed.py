from django.db import migrations, models

from core.indexing import AddIndexMeanwhile


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('core', '0017_held_of_dag'),
    ]

    operations = [
        AddIndexMeanwhile(
            model_name='assetevent',
            index=models.Index(fields=['asset', '-id'], name='event_of_asset'),
        ),
        AddIndexMeanwhile(
            model_name='dagrun',
            index=models.Index(condition=models.Q(('state__in', ['failed', 'cancelled', 'skipped'])), fields=['state', 'dag', '-id'], name='run_gone_wrong'),
        ),
        AddIndexMeanwhile(
            model_name='heldrun',
            index=models.Index(condition=models.Q(('state', 'held')), fields=['verdict'], name='held_verdict'),
        ),
        AddIndexMeanwhile(
            model_name='journalentry',
            index=models.Index(fields=['at', 'id'], name='journal_by_time'),
        ),
    ]
