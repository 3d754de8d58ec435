"""Indexes of the few rows that a run has written, among the many that none has."""

from django.db import migrations, models

from core.indexing import AddIndexMeanwhile


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('core', '0020_journal_requests'),
    ]

    operations = [
        AddIndexMeanwhile(
            model_name='assetevent',
            index=models.Index(condition=models.Q(('source_run__isnull', False)), fields=['source_run'], name='event_of_run'),
        ),
        AddIndexMeanwhile(
            model_name='partition',
            index=models.Index(condition=models.Q(('attempt_run__isnull', False)), fields=['attempt_run'], name='partition_of_attempt'),
        ),
        AddIndexMeanwhile(
            model_name='partition',
            index=models.Index(condition=models.Q(('outcome_run__isnull', False)), fields=['outcome_run'], name='partition_of_outcome'),
        ),
    ]
