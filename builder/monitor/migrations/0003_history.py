import django.core.validators
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("deployments", "0004_restarts"),
        ("monitor", "0002_retention"),
    ]

    operations = [
        migrations.AddField("metric", "lag", models.BigIntegerField(null=True)),
        migrations.AddField("metric", "lag_seconds", models.FloatField(null=True)),
        migrations.AddField("metric", "latency_ms", models.FloatField(null=True)),
        migrations.AddField("metric", "restarts", models.PositiveIntegerField(default=0)),
        migrations.AddField("metric", "segments", models.JSONField(default=dict)),
        migrations.RenameField("retention", "metrics_days", "metrics_10s_days"),
        migrations.AlterField(
            "retention",
            "metrics_10s_days",
            models.PositiveIntegerField(default=1, validators=[django.core.validators.MinValueValidator(1)], verbose_name="metrics, every 10 seconds: days"),
        ),
        migrations.AddField(
            "retention",
            "metrics_1s_minutes",
            models.PositiveIntegerField(default=60, validators=[django.core.validators.MinValueValidator(15)], verbose_name="metrics, each second: minutes"),
        ),
        migrations.AddField(
            "retention",
            "metrics_1min_days",
            models.PositiveIntegerField(default=31, validators=[django.core.validators.MinValueValidator(2)], verbose_name="metrics, every minute: days"),
        ),
        migrations.AddField(
            "retention",
            "metrics_1h_days",
            models.PositiveIntegerField(default=400, validators=[django.core.validators.MinValueValidator(2)], verbose_name="metrics, every hour: days"),
        ),
        migrations.CreateModel(
            name="MetricBlock",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("every", models.PositiveIntegerField()),
                ("at", models.DateTimeField()),
                ("packed", models.BinaryField()),
                ("outline", models.JSONField()),
                ("deployment", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="blocks", to="deployments.deployment")),
            ],
            options={
                "ordering": ("at",),
                "indexes": [models.Index(fields=["every", "at"], name="blocks_of_a_time")],
                "constraints": [models.UniqueConstraint(fields=("deployment", "every", "at"), name="one_block_per_span")],
            },
        ),
    ]
