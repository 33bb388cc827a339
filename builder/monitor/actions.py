"""Every write to how long things are kept."""

from django.contrib.auth.models import User
from django.db import transaction

from builder.access.activity import record
from builder.access.permissions import require
from builder.monitor.models import Retention


def change_retention(user: User, limits: dict[str, int]) -> Retention:
    """Keep things longer or shorter; what is past its time goes with the next cleaning."""
    require(user, "change", Retention)
    Retention.current()
    with transaction.atomic():
        retention = Retention.objects.select_for_update().get()
        before = {name: getattr(retention, name) for name in limits}
        for name, value in limits.items():
            setattr(retention, name, value)
        retention.full_clean()
        retention.save()
        changed = [
            f"{name.replace('_', ' ')} {before[name]} to {value}"
            for name, value in limits.items()
            if value != before[name]
        ]
        if changed:
            message = f"{user} changed the retention: {', '.join(changed)}"
            record(user, "change", retention, message)
    return retention
