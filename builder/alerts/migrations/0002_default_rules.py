from django.db import migrations

# name, measure, threshold, seconds, severity, whether it is on; docs/alerts.md says why.
RULES = [
    ("Failed", "failed", None, 0, "critical", True),
    ("Tries again for a minute", "backing_off", None, 60, "warning", True),
    ("Ended by itself again and again", "restarts", 3, 600, "critical", True),
    ("Falls behind", "lag_seconds", 60, 120, "warning", True),
    ("Dead letters", "errors", 0, 0, "warning", True),
    ("No rows come in", "no_data", None, 900, "warning", False),
]


def make_rules(apps, schema_editor):
    make = apps.get_model("alerts", "AlertRule").objects.create
    for name, measure, threshold, seconds, severity, is_on in RULES:
        make(
            name=name,
            measure=measure,
            threshold=threshold,
            seconds=seconds,
            severity=severity,
            is_on=is_on,
        )


class Migration(migrations.Migration):

    dependencies = [
        ('alerts', '0001_initial'),
    ]

    operations = [
        migrations.RunPython(make_rules, migrations.RunPython.noop),
    ]
