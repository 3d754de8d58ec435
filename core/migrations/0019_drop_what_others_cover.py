"""Indexes of foreign keys that others begin with too: each cost something at every write."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0018_index_what_is_listed'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='heldrun',
            name='held_by_verdict',
        ),
        migrations.AlterField(
            model_name='assetevent',
            name='asset',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='events', to='core.asset'),
        ),
        migrations.AlterField(
            model_name='dagrun',
            name='dag',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='core.dag'),
        ),
        migrations.AlterField(
            model_name='heldrun',
            name='dag',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='held_runs', to='core.dag'),
        ),
        migrations.AlterField(
            model_name='partition',
            name='asset',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='partition_set', to='core.asset'),
        ),
    ]
