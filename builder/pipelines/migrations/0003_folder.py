from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("pipelines", "0002_test_cases"),
    ]

    operations = [
        migrations.AddField(
            model_name="pipeline",
            name="folder",
            field=models.CharField(blank=True, db_index=True, default="", max_length=100),
        ),
    ]
