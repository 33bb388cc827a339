import uuid

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('monitor', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Leftover',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('connection', models.CharField(max_length=63)),
                ('at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('name', 'connection'), name='one_leftover_per_cluster')],
            },
        ),
        migrations.CreateModel(
            name='Retention',
            fields=[
                ('id', models.UUIDField(default=uuid.UUID('00000000-0000-0000-0000-000000000001'), editable=False, primary_key=True, serialize=False)),
                ('runs_kept', models.PositiveIntegerField(default=50, help_text='newest runs of each deployment', validators=[django.core.validators.MinValueValidator(1)])),
                ('metrics_days', models.PositiveIntegerField(default=1, validators=[django.core.validators.MinValueValidator(1)])),
                ('log_days', models.PositiveIntegerField(default=30, help_text='after a run has ended', validators=[django.core.validators.MinValueValidator(1)])),
                ('log_megabytes', models.PositiveIntegerField(default=500, help_text='of the logs of each deployment', validators=[django.core.validators.MinValueValidator(1)])),
                ('checkpoint_days', models.PositiveIntegerField(default=7, help_text='after the last change of checkpoints that nothing uses any more', validators=[django.core.validators.MinValueValidator(1)])),
                ('key_days', models.PositiveIntegerField(default=1, help_text='of requests with an Idempotency-Key', validators=[django.core.validators.MinValueValidator(1)])),
            ],
            options={
                'verbose_name_plural': 'retention',
            },
        ),
    ]
