"""Indexes that others begin with, or that hold what nobody looks for: each costs something at every write."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0021_index_of_runs'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='heldrun',
            name='held_rounds',
        ),
        migrations.AlterField(
            model_name='assetevent',
            name='source_run',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='produced', to='core.dagrun'),
        ),
        migrations.AlterField(
            model_name='consumedevent',
            name='held_run',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='consumed', to='core.heldrun'),
        ),
        migrations.AlterField(
            model_name='partition',
            name='attempt_run',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='core.dagrun'),
        ),
        migrations.AlterField(
            model_name='partition',
            name='outcome_run',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='core.dagrun'),
        ),
        migrations.AlterField(
            model_name='receivedkey',
            name='asset',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='core.asset'),
        ),
        migrations.AlterField(
            model_name='receivedkey',
            name='held_run',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='received', to='core.heldrun'),
        ),
    ]
