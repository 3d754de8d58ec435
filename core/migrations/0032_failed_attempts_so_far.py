"""Partitions whose last attempt failed know of those before it, as far as runs of one key tell."""

from django.db import migrations, transaction

PORTION = 1000


def fill(apps, schema_editor):
    """Some at a time, while others write: what is there already stays."""
    alias = schema_editor.connection.alias
    partitions = apps.get_model('core', 'Partition').objects.using(alias)
    failed = partitions.filter(outcome='failed', outcome_at__isnull=False).order_by('pk')
    pks = list(failed.values_list('pk', flat=True))
    for start in range(0, len(pks), PORTION):
        with transaction.atomic(using=alias):
            _fill_some(apps, alias, failed.filter(pk__in=pks[start : start + PORTION]))


def _fill_some(apps, alias, failed):
    runs, attempts = (apps.get_model('core', name).objects.using(alias) for name in ('DagRun', 'FailedAttempt'))
    rows = list(failed.select_related('last_event__source_run'))
    found = {(row.pk, row.outcome_run_id, row.outcome_at) for row in rows if row.outcome_run_id}
    by_name = {(row.asset_id, row.key): row for row in rows}
    before = runs.filter(
        dag__outlets__asset__in={row.asset_id for row in rows},
        partition_key__in={row.key for row in rows},
        state='failed',
        started_at__isnull=False,
    )
    for asset, key, pk, began in before.values_list('dag__outlets__asset', 'partition_key', 'pk', 'started_at'):
        row = by_name.get((asset, key))
        if row and began <= row.outcome_at:
            found.add((row.pk, pk, began))
    attempts.bulk_create(
        [attempts.model(partition_id=row, run_id=run, begun_at=began) for row, run, began in sorted(found)],
        ignore_conflicts=True,
    )
    for row in rows:
        event, run = row.last_event, row.last_event and row.last_event.source_run
        success_at = run.started_at if run else event and event.timestamp
        if row.data_at and success_at and success_at < row.outcome_at:
            failed.filter(pk=row.pk, success_at=None).update(success_at=success_at)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('core', '0031_failed_attempts'),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
    ]
