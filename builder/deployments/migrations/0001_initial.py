
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('pipelines', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Deployment',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('environment', models.SlugField(default='default', max_length=30)),
                ('desired', models.CharField(choices=[('running', 'Running'), ('stopped', 'Stopped')], default='running', max_length=10)),
                ('generation', models.PositiveIntegerField(default=1)),
                ('mode', models.CharField(default='auto', max_length=20)),
                ('start', models.JSONField(null=True)),
                ('fresh', models.BooleanField(default=False)),
                ('name', models.CharField(max_length=100)),
                ('graph', models.JSONField()),
                ('script', models.TextField()),
                ('segments', models.JSONField(default=list)),
                ('topics', models.JSONField(default=list)),
                ('conf', models.JSONField(default=dict)),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('starting', 'Starting'), ('running', 'Running'), ('stopping', 'Stopping'), ('stopped', 'Stopped'), ('backing_off', 'Backing Off'), ('failed', 'Failed')], default='pending', max_length=20)),
                ('message', models.CharField(blank=True, max_length=2000)),
                ('step', models.CharField(max_length=63, null=True)),
                ('missing_topics', models.JSONField(default=list)),
                ('failures', models.PositiveIntegerField(default=0)),
                ('retry_at', models.DateTimeField(null=True)),
                ('metrics', models.JSONField(null=True)),
                ('samples', models.JSONField(default=dict)),
                ('seq', models.PositiveBigIntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('pipeline', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deployments', to='pipelines.pipeline')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='pipelines.version')),
            ],
            options={
                'ordering': ('-created_at', 'id'),
            },
        ),
        migrations.CreateModel(
            name='DeployRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=200)),
                ('digest', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('deployment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='deployments.deployment')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('epoch', models.PositiveIntegerField()),
                ('generation', models.PositiveIntegerField()),
                ('boot_id', models.CharField(blank=True, max_length=36)),
                ('pid', models.PositiveIntegerField(null=True)),
                ('start_ticks', models.PositiveBigIntegerField(null=True)),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('starting', 'Starting'), ('running', 'Running'), ('stopping', 'Stopping'), ('stopped', 'Stopped'), ('backing_off', 'Backing Off'), ('failed', 'Failed')], default='starting', max_length=20)),
                ('message', models.CharField(blank=True, max_length=2000)),
                ('exit', models.JSONField(null=True)),
                ('started_at', models.DateTimeField()),
                ('running_at', models.DateTimeField(null=True)),
                ('stop_asked_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('heartbeat', models.DateTimeField(null=True)),
                ('events_offset', models.PositiveBigIntegerField(default=0)),
                ('counts_before', models.JSONField(default=dict)),
                ('deployment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='deployments.deployment')),
            ],
            options={
                'ordering': ('-epoch',),
            },
        ),
        migrations.AddConstraint(
            model_name='deployment',
            constraint=models.UniqueConstraint(fields=('pipeline', 'environment'), name='one_deployment_per_environment'),
        ),
        migrations.AddConstraint(
            model_name='deployrequest',
            constraint=models.UniqueConstraint(fields=('user', 'key'), name='one_request_per_key'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(fields=('deployment', 'epoch'), name='one_run_per_epoch'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('deployment',), name='one_live_run_per_deployment'),
        ),
    ]
