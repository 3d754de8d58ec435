"""A run for several keys has several held runs. Their index is made first, while others write."""

import django.db.models.deletion
from django.db import migrations, models, transaction

from core.indexing import AddIndexMeanwhile


class LetSeveral(migrations.AlterField):
    """On PostgreSQL just the uniqueness goes: the foreign key stays, which would be checked for every row."""

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        if schema_editor.connection.vendor != 'postgresql':
            with transaction.atomic(schema_editor.connection.alias):
                return super().database_forwards(app_label, schema_editor, from_state, to_state)
        model = from_state.apps.get_model(app_label, self.model_name)
        if schema_editor.collect_sql:
            names = ['core_heldrun_run_id_key']
        else:
            names = schema_editor._constraint_names(model, ['run_id'], unique=True, primary_key=False)
        for name in names:
            schema_editor.execute(schema_editor._delete_unique_sql(model, name))

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        with transaction.atomic(schema_editor.connection.alias):
            super().database_forwards(app_label, schema_editor, from_state, to_state)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('core', '0027_held_since'),
    ]

    operations = [
        AddIndexMeanwhile(
            model_name='heldrun',
            index=models.Index(fields=['run'], name='held_of_run'),
        ),
        LetSeveral(
            model_name='heldrun',
            name='run',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='held_runs', to='core.dagrun'),
        ),
    ]
