"""Workers that were lost with a run are counted, no longer told from its attempts, which are not counted anew."""

from django.db import migrations, models, transaction
from django.db.models import F
from django.db.models.functions import Greatest

PORTION = 5000


class AddColumn(migrations.AddField):
    """In a transaction of its own, which is over at once. One that is there stays: then this is run again."""

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        connection = schema_editor.connection
        table = to_state.apps.get_model(app_label, self.model_name)._meta.db_table
        if not schema_editor.collect_sql:
            with connection.cursor() as cursor:
                there = connection.introspection.get_table_description(cursor, table)
            if self.name in {column.name for column in there}:
                return
        with transaction.atomic(connection.alias):
            super().database_forwards(app_label, schema_editor, from_state, to_state)


def count(apps, schema_editor):
    """Of runs that are under way, some at a time: the others have lost all that they will."""
    runs = apps.get_model('core', 'DagRun').objects.using(schema_editor.connection.alias)
    under_way = list(runs.filter(state__in=['queued', 'running']).order_by('pk').values_list('pk', flat=True))
    for start in range(0, len(under_way), PORTION):
        some = under_way[start : start + PORTION]
        span = runs.filter(pk__range=(some[0], some[-1]))
        span.filter(state='queued').update(losses=Greatest(F('attempt') - F('failures'), 0))
        span.filter(state='running').update(losses=Greatest(F('attempt') - F('failures') - 1, 0))


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('core', '0028_held_runs_of_a_run'),
    ]

    operations = [
        AddColumn(
            model_name='dagrun',
            name='losses',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.RunPython(count, migrations.RunPython.noop, elidable=True),
    ]
