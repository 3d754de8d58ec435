"""How many rows the long lists have: see `core/models/counts.py`."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0023_runs_fired_short'),
    ]

    operations = [
        migrations.CreateModel(
            name='EntryCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('block', models.IntegerField()),
                ('dag_id', models.CharField(max_length=250)),
                ('event', models.CharField(max_length=60)),
                ('at_from', models.DateTimeField()),
                ('at_to', models.DateTimeField()),
                ('rows', models.IntegerField()),
                ('is_change', models.BooleanField(db_default=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('is_change', True)), fields=['id'], name='entry_count_changes'), models.Index(fields=['dag_id', 'event'], name='entry_count_of_dag')],
            },
        ),
        migrations.CreateModel(
            name='EventCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('block', models.IntegerField()),
                ('timestamp_from', models.DateTimeField()),
                ('timestamp_to', models.DateTimeField()),
                ('rows', models.IntegerField()),
                ('is_change', models.BooleanField(db_default=True)),
                ('asset', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='core.asset')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('is_change', True)), fields=['id'], name='event_count_changes'), models.Index(fields=['asset'], name='event_count_of_asset')],
            },
        ),
        migrations.CreateModel(
            name='RunCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('block', models.IntegerField()),
                ('run_type', models.CharField(max_length=20)),
                ('state', models.CharField(max_length=10)),
                ('run_after_from', models.DateTimeField()),
                ('run_after_to', models.DateTimeField()),
                ('started_at_from', models.DateTimeField()),
                ('started_at_to', models.DateTimeField()),
                ('ended_at_from', models.DateTimeField()),
                ('ended_at_to', models.DateTimeField()),
                ('updated_at_from', models.DateTimeField()),
                ('updated_at_to', models.DateTimeField()),
                ('rows', models.IntegerField()),
                ('is_change', models.BooleanField(db_default=True)),
                ('dag', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='core.dag')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('is_change', True)), fields=['id'], name='run_count_changes'), models.Index(fields=['dag'], name='run_count_of_dag')],
            },
        ),
    ]
