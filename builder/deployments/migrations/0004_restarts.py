from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("deployments", "0003_standby"),
    ]

    operations = [
        migrations.AddField("deployment", "restarts", models.PositiveIntegerField(default=0)),
    ]
