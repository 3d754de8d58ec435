from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('core', '0032_failed_attempts_so_far'),
    ]

    operations = [
        migrations.AddField(
            model_name='definitionsource',
            name='unloadable_until',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='definitionsource',
            name='unloadable_why',
            field=models.TextField(db_default='', default=''),
        ),
    ]
