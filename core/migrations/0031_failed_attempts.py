import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0030_runs_by_all_times'),
    ]

    operations = [
        migrations.AddField(
            model_name='partition',
            name='success_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.CreateModel(
            name='FailedAttempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('begun_at', models.DateTimeField()),
                ('partition', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.partition')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='core.dagrun')),
            ],
            options={
                'constraints': [models.UniqueConstraint(models.F('partition'), models.F('run'), models.F('begun_at'), name='an_attempt_fails_once')],
            },
        ),
    ]
