"""What those are told whom a rule names: noted in the database, sent by tasks, tried again."""

import hashlib
import hmac
import json
import logging
import smtplib
import time
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from kombu.exceptions import OperationalError

from builder.alerts.describe import describe
from builder.alerts.models import Alert, AlertRule, Notification
from builder.alerts.tell_alerts import locked_deployment, tell_alerts
from builder.connections.sealed import NotReadable
from builder.post_json import NeverTaken, NotTaken, post_json

log = logging.getLogger(__name__)
Json = dict[str, Any]

TASKS = "builder.alerts.tasks"
# Seconds from one try to the next; after the last it is given up.
WAITS = (10, 60, 300)
# Longer than any try: after that whoever was at it is gone.
LEASE = timedelta(seconds=60)
VERSION = 1

_SAYS: dict[str, str] = {
    Notification.About.BEGAN: "Alert",
    Notification.About.ENDED: "Over",
    Notification.About.TEST: "Test",
}


def has_channels(rule: AlertRule) -> bool:
    """Whether anybody is to be told besides the page."""
    return bool(rule.webhook or rule.emails)


def put_in_outbox(alert: Alert, about: str, now: datetime) -> None:
    """Have those whom the alert's rule names told, once this transaction is committed."""
    if alert.rule is not None:
        _put(alert.rule, about, now, alert=alert)


def put_test_in_outbox(rule: AlertRule, user: User, now: datetime) -> None:
    """Have those whom a rule names told that this is how they would be."""
    _put(rule, Notification.About.TEST, now, asked_by=user)


def due(now: datetime) -> list[UUID]:
    """What is to be sent now: new, to be tried again, or left by a worker that died."""
    waiting = Notification.objects.filter(state=Notification.State.WAITING, due_at__lte=now)
    return list(waiting.order_by("due_at").values_list("pk", flat=True)[:200])


def send(id_: UUID | str) -> None:
    """Try to send one notification, and note how it went; harmless to repeat."""
    now = timezone.now()
    waiting = Notification.objects.filter(pk=id_, state=Notification.State.WAITING, due_at__lte=now)
    # Whoever changes this row has it; others find that it is not due.
    if not waiting.update(due_at=now + LEASE, attempts=F("attempts") + 1):
        return
    notification = Notification.objects.select_related("rule", "alert", "asked_by").get(pk=id_)
    try:
        said, state = _deliver(notification), str(Notification.State.SENT)
    except NeverTaken as error:
        said, state = f"not sent: {error}", Notification.State.FAILED
    except NotTaken as error:
        said, state = _failed(notification, str(error))
    _note(notification, said, state)


def payload(notification: Notification) -> Json:
    """What a webhook is sent; docs/alerts.md describes it."""
    rule, alert = notification.rule, notification.alert
    said = describe(Alert.objects.filter(pk=alert.pk))[0] if alert else None
    if said is not None:
        # Whom else we tell, and how that went, is not theirs to know.
        for name in ("notifications", "silenced_until"):
            del said[name]
        said["link"] = _link(f"/deployments/{said['deployment']['id']}")
    return {
        "version": VERSION,
        "id": str(notification.pk),
        "event": notification.about,
        "at": timezone.now().isoformat(),
        "rule": rule and {"id": str(rule.pk), "name": rule.name},
        "message": said["message"] if said else _test_message(notification),
        "alert": said,
    }


def signature(secret: str, at: str, body: bytes) -> str:
    """The header that proves that a webhook comes from here, and when: HMAC-SHA256 in hex."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"sha256={digest.hexdigest()}"


def _put(rule: AlertRule, about: str, now: datetime, **about_what: Any) -> None:
    channels = [Notification.Channel.WEBHOOK] if rule.webhook else []
    channels += [Notification.Channel.EMAIL] if rule.emails else []
    for channel in channels:
        made = Notification.objects.create(
            rule=rule, about=about, channel=channel, due_at=now, **about_what
        )
        transaction.on_commit(partial(send_soon, made.pk))


def send_soon(id_: UUID) -> None:
    """Have a worker send it at once."""
    try:
        current_app.send_task(f"{TASKS}.send", (str(id_),), retry=False, expires=30)
    except OperationalError as error:
        log.warning("It is sent later, because Redis is away: %s", error)


def _deliver(notification: Notification) -> str:
    """Send it, and answer how it went in words. Raises NotTaken."""
    rule = notification.rule
    if rule is None or not has_channels(rule):
        raise NeverTaken("its rule names nobody any more")
    if notification.channel == Notification.Channel.EMAIL:
        return _mail(notification, rule)
    return _call(notification, rule)


def _call(notification: Notification, rule: AlertRule) -> str:
    body = json.dumps(payload(notification)).encode()
    at = str(int(time.time()))
    headers = {"User-Agent": "Headrace", "X-Headrace-Timestamp": at}
    try:
        secret = rule.opened_secret()
    except NotReadable as error:
        raise NeverTaken(f"its secret can't be read. {error} Enter it again.") from None
    if secret:
        headers["X-Headrace-Signature"] = signature(secret, at, body)
    return f"answered {post_json(rule.webhook, body, headers)}"


def _mail(notification: Notification, rule: AlertRule) -> str:
    if not settings.EMAIL_HOST:
        raise NeverTaken("there is no mail server; set HEADRACE_SMTP_URL")
    said = payload(notification)
    alert = said["alert"]
    lines = [said["message"], ""]
    if alert:
        lines += [f"Severity: {alert['severity']}", f"Since: {alert['began_at']}"]
        lines += [f"Until: {alert['ended_at']}"] if alert["ended_at"] else []
        lines += [alert["link"]] if alert["link"] else []
    lines += ["", f"You are told because the rule “{rule.name}” names this address."]
    # Names may be of anything that can be typed, a header of one line.
    subject = " ".join(f"{_SAYS[notification.about]}: {said['message']}".split())[:150]
    # Each is told by themselves: who else is, is nobody's business.
    message = EmailMessage(subject, "\n".join(lines), bcc=list(rule.emails))
    try:
        message.send()
    except (OSError, smtplib.SMTPException) as error:
        raise NotTaken(str(error)[:200] or type(error).__name__) from None
    count = len(rule.emails)
    return f"handed to the mail server for {count} address{'' if count == 1 else 'es'}"


def _failed(notification: Notification, why: str) -> tuple[str, str]:
    """What to say of a failure, and whether it is given up."""
    tries = notification.attempts
    said = f"failed {'once' if tries == 1 else f'{tries} times'}: {why}"
    given_up = tries > len(WAITS)
    return said, Notification.State.FAILED if given_up else Notification.State.WAITING


def _note(notification: Notification, said: str, state: str) -> None:
    """Keep how it went, and have those who watch see it."""
    notification.said, notification.state = said[:300], state
    if state == Notification.State.WAITING:
        wait = WAITS[notification.attempts - 1]
        notification.due_at = timezone.now() + timedelta(seconds=wait)
    with transaction.atomic():
        alert = notification.alert
        deployment = locked_deployment(alert.deployment_id) if alert else None
        notification.save(update_fields=("said", "state", "due_at"))
        if alert and deployment:
            tell_alerts(deployment, [alert.pk])


def _test_message(notification: Notification) -> str:
    rule = f" “{notification.rule.name}”" if notification.rule else ""
    by = f" {notification.asked_by} asked for it." if notification.asked_by else ""
    return f"This is how alerts of the rule{rule} will be told.{by}"


def _link(path: str) -> str | None:
    """Where people find it, if whoever installed Headrace said under which address."""
    base = settings.ENVIRONMENT.url
    return f"{base.rstrip('/')}{path}" if base else None
