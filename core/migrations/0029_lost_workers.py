"""Workers that were lost with a run are counted, no longer told from its attempts, which are not counted anew."""

from django.db import migrations, models
from django.db.models import F
from django.db.models.functions import Greatest


def count(apps, schema_editor):
    """Of runs that are under way: the others have lost all that they will."""
    runs = apps.get_model('core', 'DagRun').objects.using(schema_editor.connection.alias)
    runs.filter(state='queued').update(losses=Greatest(F('attempt') - F('failures'), 0))
    runs.filter(state='running').update(losses=Greatest(F('attempt') - F('failures') - 1, 0))


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0028_held_runs_of_a_run'),
    ]

    operations = [
        migrations.AddField(
            model_name='dagrun',
            name='losses',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.RunPython(count, migrations.RunPython.noop, elidable=True),
    ]
