
import builder.connections.models
import django.core.validators
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Connection',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=63, unique=True, validators=[django.core.validators.RegexValidator('^[a-z][a-z0-9_-]*\\Z', 'Use a small letter, then small letters, digits, dashes and underscores.')])),
                ('type', models.CharField(choices=[('kafka', 'Kafka')], default='kafka', max_length=20)),
                ('bootstrap_servers', models.CharField(help_text='host:port, several by comma', max_length=1000, validators=[builder.connections.models._sound_addresses])),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'ordering': ('name',),
            },
        ),
    ]
