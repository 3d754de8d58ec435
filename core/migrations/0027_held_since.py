from django.db import migrations, models

from core.indexing import AddIndexMeanwhile


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('core', '0026_runs_of_materialization'),
    ]

    operations = [
        AddIndexMeanwhile(
            model_name='heldrun',
            index=models.Index(condition=models.Q(('state', 'held')), fields=['opened_at'], name='held_opened'),
        ),
    ]
