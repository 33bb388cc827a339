import builder.access.models
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models

from builder.access.append_only import put_up_guard, take_down_guard

# Whom Django's permission let do this before there were roles.
ROLE_OF = {"change_pipeline": "editor", "change_deployment": "operator"}


def name_users(apps, schema_editor):
    """Activity says what users were called, since it outlives them."""
    activity = apps.get_model("access", "Activity")
    for user in apps.get_model("auth", "User").objects.all():
        activity.objects.filter(user=user.pk).update(username=user.username, via="session")


def grant_what_was_allowed(apps, schema_editor):
    """Staff may what they might before, and whoever could log in goes on seeing what is there."""
    grant = apps.get_model("access", "Grant").objects.create
    for user in apps.get_model("auth", "User").objects.filter(is_superuser=False):
        grant(role="admin" if user.is_staff else "viewer", user=user)
        held = user.user_permissions.filter(codename__in=ROLE_OF)
        for name in set(held.values_list("codename", flat=True)):
            grant(role=ROLE_OF[name], user=user)
    for group in apps.get_model("auth", "Group").objects.all():
        held = group.permissions.filter(codename__in=ROLE_OF)
        for name in set(held.values_list("codename", flat=True)):
            grant(role=ROLE_OF[name], group=group)


def put_up(apps, schema_editor):
    put_up_guard(schema_editor.connection)


def take_down(apps, schema_editor):
    take_down_guard(schema_editor.connection)


class Migration(migrations.Migration):

    dependencies = [
        ('access', '0001_initial'),
        ('auth', '0012_alter_user_first_name_max_length'),
        ('pipelines', '0003_folder'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='activity',
            name='address',
            field=models.GenericIPAddressField(null=True),
        ),
        migrations.AddField(
            model_name='activity',
            name='username',
            field=models.CharField(blank=True, max_length=150),
        ),
        migrations.AddField(
            model_name='activity',
            name='via',
            field=models.CharField(choices=[('session', 'in the browser'), ('token', 'by a token'), ('admin', 'in the admin'), ('headrace', 'by Headrace itself')], default='headrace', max_length=10),
        ),
        migrations.AddField(
            model_name='token',
            name='expires_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='token',
            name='scopes',
            field=models.JSONField(default=builder.access.models.all_scopes),
        ),
        migrations.AlterField(
            model_name='activity',
            name='user',
            field=models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.CreateModel(
            name='LoginAttempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('username', models.CharField(max_length=150)),
                ('address', models.GenericIPAddressField(null=True)),
                ('at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['username', 'at'], name='access_logi_usernam_9cb12d_idx'), models.Index(fields=['address', 'at'], name='access_logi_address_71abcf_idx'), models.Index(fields=['at'], name='access_logi_at_415c3d_idx')],
            },
        ),
        migrations.CreateModel(
            name='Grant',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('role', models.CharField(choices=[('viewer', 'viewer'), ('editor', 'editor'), ('operator', 'operator'), ('admin', 'admin'), ('author_python', 'author_python')], max_length=20)),
                ('folder', models.CharField(blank=True, max_length=100)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('granted_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('group', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='grants', to='auth.group')),
                ('pipeline', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='grants', to='pipelines.pipeline')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='grants', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-created_at', 'id'),
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('group__isnull', False), ('user', None)), models.Q(('group', None), ('user__isnull', False)), _connector='OR'), name='grant_to_a_user_or_a_group'), models.CheckConstraint(condition=models.Q(('folder', ''), ('pipeline', None), _connector='OR'), name='grant_on_one_thing'), models.UniqueConstraint(condition=models.Q(('pipeline', None)), fields=('role', 'user', 'folder'), name='one_grant_per_user_and_folder'), models.UniqueConstraint(fields=('role', 'user', 'pipeline'), name='one_grant_per_user_and_pipeline'), models.UniqueConstraint(condition=models.Q(('pipeline', None)), fields=('role', 'group', 'folder'), name='one_grant_per_group_and_folder'), models.UniqueConstraint(fields=('role', 'group', 'pipeline'), name='one_grant_per_group_and_pipeline')],
            },
        ),
        migrations.RunPython(name_users, migrations.RunPython.noop),
        migrations.RunPython(grant_what_was_allowed, migrations.RunPython.noop),
        migrations.RunPython(put_up, take_down),
    ]
