import uuid

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('connections', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Environment',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=30, unique=True, validators=[django.core.validators.RegexValidator('^[a-z][a-z0-9-]*\\Z', 'Use a small letter, then small letters, digits and dashes.')])),
                ('master', models.CharField(blank=True, help_text='local[*] or spark://host:port; empty: as installed', max_length=500)),
                ('cores', models.PositiveIntegerField(blank=True, help_text='how many tasks of a deployment can run at once', null=True)),
                ('driver_memory', models.CharField(blank=True, help_text='such as 2g', max_length=10)),
                ('executor_memory', models.CharField(blank=True, help_text='such as 4g', max_length=10)),
                ('conf', models.JSONField(blank=True, default=dict)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'ordering': ('name',),
            },
        ),
        migrations.CreateModel(
            name='Meaning',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=63)),
                ('connection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='connections.connection')),
                ('environment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='meanings', to='environments.environment')),
            ],
            options={
                'ordering': ('name',),
                'constraints': [models.UniqueConstraint(fields=('environment', 'name'), name='one_meaning_of_a_name')],
            },
        ),
    ]
