"""Rules, what they find over time, and who is told."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from threading import Event, Thread
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from builder import post_json as posting
from builder.access.actions import make_token
from builder.access.models import Activity
from builder.alerts import outbox
from builder.alerts.evaluate import evaluate
from builder.alerts.models import Alert, AlertRule, Notification, Observation
from builder.alerts.outbox import send, signature
from builder.alerts.tasks import forget, look
from builder.asgi import application
from builder.deployments.models import Deployment, Run
from builder.monitor.tell import tell_state, told
from builder.pipelines.models import Pipeline, Version
from tests.builder.conftest import Api, user_with
from tests.builder.watching import Watching

AT = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
GRAPH = {
    "version": 1,
    "steps": [
        {"id": "lines", "type": "kafka_source", "label": "Reviews"},
        {"id": "out", "type": "kafka_sink"},
    ],
    "edges": [{"from": "lines", "to": "out"}],
}


def deployed(admin: User, name: str = "word-count", **fields: Any) -> Deployment:
    folder = fields.pop("folder", "")
    pipeline = Pipeline.objects.create(
        name=name, slug=name, graph=GRAPH, owner=admin, folder=folder
    )
    version = Version.objects.create(pipeline=pipeline, number=1, graph=GRAPH, hash="")
    made = {"pipeline": pipeline, "version": version, "name": name, "graph": GRAPH, "script": ""}
    return Deployment.objects.create(**made, **{"state": "running", **fields})


@pytest.fixture
def deployment(admin: User) -> Deployment:
    AlertRule.objects.all().delete()
    return deployed(admin)


def metrics(rows: int = 0, rate: float = 0.0, **more: Any) -> dict[str, Any]:
    """The newest metrics; `errors` and `dropped` are those of the source."""
    step = {"in": rows, "out": rows, "rate": rate, "dropped": more.pop("dropped", 0)}
    if "errors" in more:
        step["errors"] = more.pop("errors")
    return {"rate": rate, "steps": {"lines": step}, "segments": {}, **more}


def waiting(n: int | None, oldest: float | None = None) -> dict[str, Any]:
    segment = {
        "lag": {"page-views-0": 1, "page-views-1": n},
        "lag_seconds": {"page-views-1": oldest},
    }
    return {**metrics(9, 5.0, lag=n, lag_seconds=oldest), "segments": {"out": segment}}


RUNS: dict[str, Any] = {"state": "running"}
BREAKS = {"state": "backing_off", "message": "No broker.", "failures": 1}

# A rule; what a deployment is at which second; when alerts begin and end, and what they say.
CASES: dict[str, tuple[dict[str, Any], dict[int, dict[str, Any]], list[str]]] = {
    "a failure at once, over as soon as it is started": (
        {"measure": "failed", "severity": "critical"},
        {
            0: RUNS,
            5: {"state": "failed", "message": "No column x.", "step": "lines"},
            10: {},
            15: {"state": "pending", "step": None},
        },
        ["5 begins: word-count: it failed at Reviews and does not try again by itself. "
         "No column x.",
         "15 ends"],
    ),
    "what was stopped on purpose is no trouble": (
        {"measure": "failed"},
        {0: {"state": "failed"}, 5: {"state": "stopped", "desired": "stopped"}},
        ["0 begins: word-count: it failed and does not try again by itself", "5 ends"],
    ),
    "tries again for a minute, the moments between tries counted": (
        {"measure": "backing_off", "seconds": 60},
        {0: BREAKS, 30: {**BREAKS, "state": "starting"}, 45: BREAKS, 60: BREAKS, 65: RUNS},
        ["60 begins: word-count: it does not run, and tries again. No broker.", "65 ends"],
    ),
    "tries again, but not for long enough": (
        {"measure": "backing_off", "seconds": 60},
        {0: BREAKS, 55: RUNS, 60: BREAKS, 115: BREAKS},
        [],
    ),
    "records that wait, for long enough": (
        {"measure": "lag", "threshold": 1000, "seconds": 10},
        {
            0: {"metrics": waiting(1001)},
            5: {"metrics": waiting(1000)},
            10: {"metrics": waiting(2345)},
            15: {"metrics": waiting(2345)},
            20: {"metrics": waiting(12345)},
            25: {"metrics": waiting(3)},
            80: {"metrics": waiting(3)},
            85: {"metrics": waiting(3)},
        },
        ["20 begins: word-count: 12,345 records wait to be read, more than 1,000, "
         "most of them in page-views-1", "85 ends"],
    ),
    "one that comes and goes is one": (
        {"measure": "lag", "threshold": 10},
        {s: {"metrics": waiting(99 if s % 60 == 0 else 0)} for s in range(0, 240, 30)},
        ["0 begins: word-count: 99 records wait to be read, more than 10, "
         "most of them in page-views-1"],
    ),
    "what is not known neither begins nor ends an alert": (
        {"measure": "lag", "threshold": 10},
        {
            0: {"metrics": metrics(5, 1.0)},
            5: {"metrics": waiting(99)},
            10: {"metrics": waiting(None)},
            100: {"state": "starting"},
            300: {"metrics": waiting(99), "state": "running"},
        },
        ["5 begins: word-count: 99 records wait to be read, more than 10, "
         "most of them in page-views-1"],
    ),
    "the oldest record that waits": (
        {"measure": "lag_seconds", "threshold": 60, "seconds": 120},
        {s: {"metrics": waiting(9, 75.4 + s)} for s in range(0, 125, 5)},
        ["120 begins: word-count: the oldest record that waits in page-views-1 is 3 min old, "
         "more than 60 s"],
    ),
    "latency": (
        {"measure": "latency_ms", "threshold": 500},
        {0: {"metrics": metrics(9, 1.0, latency_ms=500)},
         5: {"metrics": metrics(9, 1.0, latency_ms=1400)}},
        ["5 begins: word-count: a row takes 1,400 ms from Kafka to its sink, more than 500 ms"],
    ),
    "too few rows; one that has said nothing yet counts as none": (
        {"measure": "rate_below", "threshold": 2.5, "seconds": 5},
        {0: {"metrics": None}, 5: {"metrics": metrics(1, 2.4)}, 10: {"metrics": metrics(9, 2.5)}},
        ["5 begins: word-count: 2.4 rows/s come in, fewer than 2.5"],
    ),
    "too many rows": (
        {"measure": "rate_above", "threshold": 100},
        {0: {"metrics": metrics(9, 100.0)}, 5: {"metrics": metrics(9, 1234.5)}},
        ["5 begins: word-count: 1,234 rows/s come in, more than 100"],
    ),
    "dead letters, named by their step, over a minute later and another of calm": (
        {"measure": "errors", "threshold": 0},
        {
            0: {"metrics": metrics(9, errors=7)},
            5: {"metrics": metrics(9, errors=7)},
            10: {"metrics": metrics(9, errors=8)},
            15: {"metrics": metrics(9, errors=10)},
            65: {},
            70: {},
            75: {},
            130: {},
            135: {},
        },
        ["10 begins: word-count: 1 record could not be read in the last minute at Reviews; "
         "see its dead letters",
         "15 says: word-count: 3 records could not be read in the last minute at Reviews; "
         "see its dead letters",
         "70 says: word-count: 2 records could not be read in the last minute at Reviews; "
         "see its dead letters",
         "135 ends"],
    ),
    "the first dead letters of a new deployment, and those after a fresh start": (
        {"measure": "errors", "threshold": 0},
        {
            0: {"metrics": None},
            5: {"metrics": metrics(9, errors=2)},
            200: {"metrics": metrics(9, errors=2)},
            260: {},
            265: {"metrics": None},
            270: {"metrics": metrics(1, errors=1)},
        },
        ["5 begins: word-count: 2 records could not be read in the last minute at Reviews; "
         "see its dead letters",
         "260 ends",
         "270 begins: word-count: 1 record could not be read in the last minute at Reviews; "
         "see its dead letters"],
    ),
    "figures without errors say nothing of them": (
        {"measure": "errors", "threshold": 0},
        {0: {"metrics": metrics(9)}, 5: {"metrics": metrics(90)}},
        [],
    ),
    "rows left out": (
        {"measure": "dropped", "threshold": 10},
        {0: {"metrics": metrics(9, dropped=0)}, 5: {"metrics": metrics(9, dropped=10)},
         10: {"metrics": metrics(9, dropped=11)}},
        ["10 begins: word-count: 11 rows were left out in the last minute at Reviews, "
         "unreadable or too late"],
    ),
    "no row comes in, however seldom they came before": (
        {"measure": "no_data", "seconds": 60},
        {
            0: {"metrics": metrics(1)},
            50: {"metrics": metrics(2)},
            105: {"metrics": metrics(2)},
            # Between two looks one came.
            110: {"metrics": metrics(3)},
            165: {"metrics": metrics(3)},
            170: {"metrics": metrics(3)},
            225: {"metrics": metrics(3)},
            230: {"metrics": metrics(4, 1.0)},
        },
        ["170 begins: word-count: no row has come in for 60 s", "230 ends"],
    ),
    "in another environment, which is named": (
        {"measure": "failed"},
        {0: {"state": "failed", "environment": "prod"}},
        ["0 begins: word-count in prod: it failed and does not try again by itself"],
    ),
    "a rule that is off": ({"measure": "failed", "is_on": False}, {0: {"state": "failed"}}, []),
    "a rule on another folder": (
        {"measure": "failed", "folder": "sales"}, {0: {"state": "failed"}}, []
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_rules_find_over_time(case: str, deployment: Deployment) -> None:
    rule, over_time, expected = CASES[case]
    AlertRule.objects.create(name="r", **rule)
    found: list[str] = []
    before: dict[Any, Alert] = {}
    for second, fields in over_time.items():
        Deployment.objects.update(**fields)
        evaluate(now=AT + timedelta(seconds=second))
        # Twice makes no difference, nor would a worker that has just begun.
        evaluate(now=AT + timedelta(seconds=second))
        for alert in Alert.objects.order_by("began_at"):
            was = before.get(alert.pk)
            if was is None:
                found.append(f"{second} begins: {alert.message}")
            elif was.message != alert.message:
                found.append(f"{second} says: {alert.message}")
            if alert.ended_at and not (was and was.ended_at):
                found.append(f"{second} ends")
            before[alert.pk] = alert
    assert found == expected


def test_runs_that_end_again_and_again(deployment: Deployment) -> None:
    AlertRule.objects.create(name="r", measure="restarts", threshold=2, seconds=600)
    ends = {1: (0, "failed"), 2: (60, "backing_off"), 3: (70, "stopped"), 4: (100, "failed")}
    for epoch, (second, state) in ends.items():
        at = AT + timedelta(seconds=second)
        evaluate(now=at)
        assert not Alert.objects.exists()
        Run.objects.create(
            deployment=deployment, epoch=epoch, generation=1, state=state,
            started_at=at, ended_at=at,
        )  # fmt: skip
    evaluate(now=AT + timedelta(seconds=100))
    alert = Alert.objects.get()
    assert alert.message == "word-count: 3 runs ended by themselves within 10 min"
    evaluate(now=AT + timedelta(seconds=601))
    assert Alert.objects.get().ended_at == AT + timedelta(seconds=601)


def test_the_rules_that_are_there_from_the_start(api: Api) -> None:
    # Tests that commit leave tables empty behind them.
    AlertRule.objects.all().delete()
    import_module("builder.alerts.migrations.0002_default_rules").make_rules(apps, None)
    rules = {r["measure"]: r for r in api.get("/alert-rules")["items"]}
    on = {
        name: (r["threshold"], r["seconds"], r["severity"])
        for name, r in rules.items()
        if r["is_on"]
    }
    assert on == {
        "failed": (None, 0, "critical"),
        "backing_off": (None, 60, "warning"),
        "restarts": (3, 600, "critical"),
        "lag_seconds": (60, 120, "warning"),
        "errors": (0, 0, "warning"),
    }
    assert rules["no_data"]["is_on"] is False


def test_fifty_deployments_and_ten_rules_are_looked_at_quickly(admin: User) -> None:
    AlertRule.objects.all().delete()
    for n in range(50):
        deployed(admin, f"p{n}", metrics=waiting(n, float(n)))
    for n in range(10):
        AlertRule.objects.create(name=f"r{n}", measure="lag", threshold=1000 + n, seconds=60)
    evaluate()
    assert not Alert.objects.exists()
    took = []
    for n in range(3):
        # Ten of them count another dead letter between two looks.
        changed = Deployment.objects.filter(name__in=[f"p{m}" for m in range(10)])
        changed.update(metrics=metrics(9, 1.0, errors=n))
        with CaptureQueriesContext(connection) as asked:
            begin = time.process_time()
            evaluate()
            took.append(time.process_time() - begin)
        assert len(asked) <= 6 + 10 * 6
    with CaptureQueriesContext(connection) as asked:
        evaluate()
    assert len(asked) <= 6, "whatever stays as it is costs no query of its own"
    assert min(took) < 0.1


def test_of_two_who_look_at_once_one_comes_too_late(
    deployment: Deployment, monkeypatch: Any
) -> None:
    AlertRule.objects.create(name="r", measure="failed", webhook="https://example.com/")
    Deployment.objects.update(state="failed")
    from builder.alerts import evaluate as module

    write = module._write

    def meanwhile(*arguments: Any) -> None:
        monkeypatch.setattr(module, "_write", write)
        evaluate()
        write(*arguments)

    monkeypatch.setattr(module, "_write", meanwhile)
    evaluate()
    assert Alert.objects.count() == Notification.objects.count() == 1
    assert Observation.objects.get().turn == 1


def test_a_rule_that_is_gone_or_another_ends_its_alerts(deployment: Deployment, api: Api) -> None:
    made = {"name": "r", "measure": "failed"}
    Deployment.objects.update(state="failed")
    rules = [api.post("/alert-rules", made, 201)["id"] for _ in range(2)]
    evaluate()
    assert Alert.objects.filter(ended_at=None).count() == 2
    api.delete(f"/alert-rules/{rules[0]}")
    api.put(f"/alert-rules/{rules[1]}", {**made, "is_on": False})
    evaluate()
    assert Alert.objects.filter(ended_at=None).count() == 0
    assert api.get("/alerts")["count"] == 2, "history stays"


def test_another_state_is_looked_at_at_once(
    deployment: Deployment, monkeypatch: Any, django_capture_on_commit_callbacks: Any
) -> None:
    heard: list[set[str]] = []

    def hear(types: set[str], **_: Any) -> None:
        heard.append(types)

    told.connect(hear)
    asked: list[Any] = []
    from builder.alerts import tasks

    monkeypatch.setattr(tasks.look_at, "apply_async", lambda args, **_: asked.append(args))
    with django_capture_on_commit_callbacks(execute=True):
        tell_state(deployment)
    assert heard == [{"state"}]
    assert asked == [(str(deployment.pk),)]


# --- Telling others


class Hook:
    """A real server that keeps what it is sent, and answers as it is told to."""

    def __init__(self) -> None:
        self.taken: list[tuple[dict[str, str], bytes]] = []
        self.answer: Callable[[BaseHTTPRequestHandler], None] = lambda h: self.say(h, 204)
        self.done = Event()
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.taken.append((dict(self.headers.items()), body))
                hook.answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/alerts?to=me"
        Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @staticmethod
    def say(handler: BaseHTTPRequestHandler, status: int, **headers: str) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()

    def drip(self, handler: BaseHTTPRequestHandler) -> None:
        """Send a byte of a header now and then, for ever."""
        with suppress(BrokenPipeError):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while not self.done.wait(0.05):
                handler.wfile.write(b"a")

    def hang(self, handler: BaseHTTPRequestHandler) -> None:
        self.done.wait(10)


@pytest.fixture
def hook() -> Iterator[Hook]:
    hook = Hook()
    yield hook
    hook.done.set()
    hook.server.shutdown()
    hook.server.server_close()


@pytest.fixture
def failed(deployment: Deployment, hook: Hook, api: Api) -> Alert:
    """An alert that a webhook is to be told of."""
    rule = {"name": "r", "measure": "failed", "severity": "critical"}
    rule |= {"webhook": hook.url, "webhook_secret": "a secret"}
    api.post("/alert-rules", rule, 201)
    Deployment.objects.update(state="failed", message="No column x.")
    evaluate()
    return Alert.objects.get()


def test_a_webhook_is_told_once_that_it_begins_and_ends(
    failed: Alert, hook: Hook, settings: Any
) -> None:
    settings.ENVIRONMENT = settings.ENVIRONMENT.model_copy(update={"url": "https://hr.test/"})
    for _ in range(3):
        evaluate()
        for id_ in outbox.due(timezone.now()):
            send(id_)
            send(id_)
    Deployment.objects.update(state="running")
    evaluate()
    for id_ in outbox.due(timezone.now()):
        send(id_)
    assert len(hook.taken) == 2
    for (headers, body), event in zip(hook.taken, ("began", "ended"), strict=True):
        assert headers["Content-Type"] == "application/json"
        at = headers["X-Headrace-Timestamp"]
        assert abs(time.time() - int(at)) < 30
        assert headers["X-Headrace-Signature"] == signature("a secret", at, body)
        assert signature("another", at, body) != signature("a secret", at, body)
        said = json.loads(body)
        assert (said["version"], said["event"]) == (1, event)
        assert said["alert"]["id"] == str(failed.pk)
        assert said["alert"]["severity"] == "critical"
        assert said["alert"]["pipeline"]["name"] == "word-count"
        assert said["alert"]["link"] == f"https://hr.test/deployments/{failed.deployment_id}"
        assert (said["alert"]["ended_at"] is None) == (event == "began")
        assert said["message"] == failed.message
    assert b"secret" not in b"".join(body for _, body in hook.taken)
    found = {(n.about, n.state, n.said) for n in Notification.objects.all()}
    assert found == {("began", "sent", "answered 204"), ("ended", "sent", "answered 204")}


TROUBLE: dict[str, tuple[Callable[[Hook], Any], str]] = {
    "hangs": (lambda hook: hook.hang, "timed out"),
    "sends a byte now and then": (lambda hook: hook.drip, "timed out"),
    "has an error": (lambda hook: lambda h: hook.say(h, 500), "answered 500"),
    "leads elsewhere": (
        lambda hook: lambda h: hook.say(h, 302, Location="http://169.254.169.254/secrets"),
        "answered 302: it leads elsewhere; give the address it leads to",
    ),
    "is no HTTP": (
        lambda hook: lambda h: h.wfile.write(b"what?\r\n"),
        "could not be reached: what?",
    ),
}


@pytest.mark.parametrize("trouble", TROUBLE)
def test_a_webhook_that_fails_is_tried_again_and_given_up(
    trouble: str, failed: Alert, hook: Hook, monkeypatch: Any, api: Api
) -> None:
    monkeypatch.setitem(posting.post_json.__kwdefaults__, "seconds", 0.3)
    answer, said = TROUBLE[trouble]
    hook.answer = answer(hook)
    notification = Notification.objects.get()
    begin = time.monotonic()
    for n, wait in enumerate((*outbox.WAITS, None), 1):
        send(notification.pk)
        notification.refresh_from_db()
        assert notification.attempts == n
        times = "once" if n == 1 else f"{n} times"
        assert notification.said.startswith(f"failed {times}: {said}"), notification.said
        assert notification.state == ("failed" if wait is None else "waiting")
        if wait is not None:
            left = (notification.due_at - timezone.now()).total_seconds()
            assert wait - 5 < left <= wait
            send(notification.pk)
            Notification.objects.update(due_at=timezone.now())
    assert time.monotonic() - begin < 4
    assert len(hook.taken) == 4
    [shown] = api.get("/alerts")["items"]
    assert shown["notifications"][0]["message"].startswith("failed 4 times")


def test_a_worker_that_dies_while_it_sends(failed: Alert, hook: Hook) -> None:
    """Its notification is sent by the next, once it counts as gone."""
    Notification.objects.update(attempts=1, due_at=timezone.now() + outbox.LEASE)
    assert outbox.due(timezone.now()) == []
    later = timezone.now() + outbox.LEASE + timedelta(seconds=1)
    assert outbox.due(later) == [Notification.objects.get().pk]


FORBIDDEN = [
    "http://169.254.169.254/latest", "http://[fd00:ec2::254]/", "http://2852039166/",
    "http://0.0.0.0:8000/", "ftp://example.com/", "https://user:pass@example.com/", "example.com",
    "https:///path", "https://example.com:99999/", "https://exa\nmple.com/",
    "https://example.com/a b", "file:///etc/passwd", "gopher://example.com/",
]  # fmt: skip


@pytest.mark.parametrize("address", FORBIDDEN)
def test_no_webhook_leads_where_none_may(address: str, api: Api) -> None:
    body = {"name": "r", "measure": "failed", "webhook": address}
    answer = api.post("/alert-rules", body, 422)
    assert [p["field"] for p in answer["problems"]] == ["webhook"]


def test_a_name_that_turns_out_to_be_a_forbidden_address(
    failed: Alert, monkeypatch: Any, settings: Any
) -> None:
    """It was harmless when the rule was written; that it is asked again is what holds."""
    from builder.connections import addresses

    monkeypatch.setattr(addresses, "_resolved", lambda *_: ["169.254.169.254"])
    AlertRule.objects.update(webhook="http://harmless.example.com/")
    send(Notification.objects.get().pk)
    notification = Notification.objects.get()
    assert (notification.state, notification.attempts) == ("failed", 1)
    assert "which is no place for a server" in notification.said


def test_mail(deployment: Deployment, api: Api, settings: Any, mailoutbox: Any) -> None:
    body = {
        "name": "On\u00a0call",
        "measure": "failed",
        "emails": ["a@example.com", "b@example.com"],
    }
    answer = api.post("/alert-rules", body, 422)
    assert "HEADRACE_SMTP_URL" in answer["problems"][0]["message"]
    settings.EMAIL_HOST = "mail.test"
    api.post("/alert-rules", body, 201)
    Pipeline.objects.update(name="evil\nBcc: c@example.com")
    Deployment.objects.update(state="failed", message="No column x.")
    evaluate()
    send(Notification.objects.get().pk)
    [mail] = mailoutbox
    assert (mail.to, mail.bcc) == ([], ["a@example.com", "b@example.com"])
    assert mail.subject.startswith("Alert: evil Bcc: c@example.com: it failed")
    assert "No column x." in mail.body
    assert "Severity: warning" in mail.body
    assert Notification.objects.get().said == "handed to the mail server for 2 addresses"


def test_a_mail_server_that_is_away(deployment: Deployment, api: Api, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    rule = {"name": "r", "measure": "failed", "emails": ["a@example.com"]}
    made = api.post("/alert-rules", rule, 201)
    tested = api.post(f"/alert-rules/{made['id']}/test")
    assert [(t["about"], t["state"]) for t in tested["tests"]] == [("test", "waiting")]
    send(Notification.objects.get().pk)
    [told_] = api.get(f"/alert-rules/{made['id']}")["tests"]
    assert told_["message"].startswith("failed once: ")
    assert "refused" in told_["message"]


def test_a_rule_is_tested(deployment: Deployment, api: Api, hook: Hook) -> None:
    rule = {"name": "r", "measure": "failed"}
    quiet = api.post("/alert-rules", rule, 201)
    api.post(f"/alert-rules/{quiet['id']}/test", status=409)
    made = api.post("/alert-rules", {**rule, "webhook": hook.url}, 201)
    api.post(f"/alert-rules/{made['id']}/test")
    send(Notification.objects.get().pk)
    said = json.loads(hook.taken[0][1])
    assert (said["event"], said["alert"], said["rule"]["name"]) == ("test", None, "r")
    assert "X-Headrace-Signature" not in hook.taken[0][0]
    assert api.get(f"/alert-rules/{made['id']}")["tests"][0]["state"] == "sent"


# --- Silences and acknowledging


def test_nobody_is_told_while_it_is_silenced(failed: Alert, hook: Hook, api: Api) -> None:
    """The alert is shown, marked; who is told once the silence is over is told that it began."""
    Notification.objects.all().delete()
    Alert.objects.all().delete()
    until = (timezone.now().replace(microsecond=0) + timedelta(minutes=30)).isoformat()
    silence = api.post(
        "/silences",
        {"deployment": str(failed.deployment_id), "until": until, "comment": "Known,\nwe move"},
        201,
    )
    assert (silence["comment"], silence["by"]) == ("Known, we move", "ada")
    evaluate()
    [alert] = api.get("/alerts?open=true")["items"]
    assert datetime.fromisoformat(alert["silenced_until"]) == datetime.fromisoformat(until)
    assert not Notification.objects.exists()
    evaluate(now=timezone.now() + timedelta(minutes=31))
    assert [n.about for n in Notification.objects.all()] == ["began"]
    api.delete(f"/silences/{silence['id']}")
    [alert] = api.get("/alerts?open=true")["items"]
    assert alert["silenced_until"] is None
    [over] = api.get("/silences")["items"]
    assert datetime.fromisoformat(over["until"]) <= timezone.now()


def test_an_end_within_a_silence_is_not_told(failed: Alert, api: Api) -> None:
    until = (timezone.now().replace(microsecond=0) + timedelta(minutes=30)).isoformat()
    api.post("/silences", {"rule": str(failed.rule_id), "until": until}, 201)
    Deployment.objects.update(state="running")
    evaluate()
    assert Alert.objects.get().ended_at is not None
    assert [n.about for n in Notification.objects.all()] == ["began"]


def test_one_who_looks_after_it_says_so(failed: Alert, api: Api) -> None:
    path = f"/alerts/{failed.pk}/acknowledge"
    first = api.post(path)
    assert (first["acknowledged_by"], first["acknowledged_at"] is None) == ("ada", False)
    other = Api(user_with("olga", "operator"))
    assert other.post(path)["acknowledged_by"] == "ada"
    evaluate()
    assert Alert.objects.get().acknowledged_at is not None
    said = Activity.objects.filter(verb="acknowledge").values_list("message", flat=True)
    assert list(said) == [f"ada acknowledged: {failed.message}"]


# --- Bad input, and who sees what


NONSENSE: list[tuple[dict[str, Any], list[str]]] = [
    ({"measure": "lag"}, ["threshold"]),
    ({"measure": "lag", "threshold": -1}, ["threshold"]),
    ({"measure": "lag", "threshold": 1.5}, ["threshold"]),
    ({"measure": "lag", "threshold": 1e300}, ["threshold"]),
    ({"measure": "failed", "threshold": 1}, ["threshold"]),
    ({"measure": "rate_below", "threshold": 0}, ["threshold"]),
    ({"measure": "restarts", "threshold": 3, "seconds": 5}, ["seconds"]),
    ({"measure": "no_data"}, ["seconds"]),
    ({"measure": "failed", "seconds": 10**9}, ["seconds"]),
    ({"measure": "failed", "seconds": -1}, ["seconds"]),
    ({"measure": "weather"}, ["measure"]),
    ({"measure": "failed", "severity": "so so"}, ["severity"]),
    ({"measure": "failed", "name": " \n"}, ["name"]),
    ({"measure": "failed", "webhook_secret": "s"}, ["webhook_secret"]),
    ({"measure": "failed", "emails": ["a@example.com\nBcc: b@example.com"]}, ["emails"]),
    ({"measure": "failed", "emails": ["a@example.com\n"]}, ["emails"]),
    ({"measure": "failed", "emails": ["nobody", "@", "a b@c.de"]}, ["emails"] * 3),
    ({"measure": "failed", "emails": [f"a{n}@example.com" for n in range(21)]}, ["emails"]),
    ({"measure": "failed", "surprise": 1}, ["surprise"]),
]


@pytest.mark.parametrize(("body", "fields"), NONSENSE)
def test_what_makes_no_sense_is_refused_at_its_field(
    body: dict[str, Any], fields: list[str], api: Api, settings: Any
) -> None:
    settings.EMAIL_HOST = "mail.test"
    answer = api.post("/alert-rules", {"name": "r", **body}, 422)
    assert [p["field"] for p in answer["problems"]] == fields


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"minutes": -1}, 422),
        ({"minutes": 60 * 24 * 400}, 422),
        ({"deployment": "5d3bde2a-0000-4000-8000-000000000000"}, 404),
    ],
)
def test_a_silence_that_makes_no_sense(
    body: dict[str, Any], status: int, deployment: Deployment, api: Api
) -> None:
    minutes = body.pop("minutes", None)
    until = timezone.now() + timedelta(minutes=minutes or 5)
    if minutes is not None:
        body["deployment"] = str(deployment.pk)
    api.post("/silences", {**body, "until": until.isoformat()}, status)


def test_a_rule_on_what_one_may_not_see(admin: User, deployment: Deployment) -> None:
    seller = Api(user_with("sal", "admin", "operator", folder="sales"))
    rule = {"name": "r", "measure": "failed"}
    seller.post("/alert-rules", {**rule, "pipeline": str(deployment.pipeline_id)}, 404)
    seller.post("/alert-rules", {**rule, "deployment": str(deployment.pk)}, 404)
    seller.post("/alert-rules", {**rule, "folder": "else"}, 403)
    seller.post("/alert-rules", rule, 403)
    mine = seller.post("/alert-rules", {**rule, "folder": "sales"}, 201)
    # Nor is it moved there afterwards.
    seller.put(f"/alert-rules/{mine['id']}", rule, 403)
    seller.put(f"/alert-rules/{mine['id']}", {**rule, "deployment": str(deployment.pk)}, 404)
    assert AlertRule.objects.get().folder == "sales"


def test_who_sees_which_rules_and_alerts(admin: User, deployment: Deployment, api: Api) -> None:
    """A viewer reads neither the way to a webhook nor whom else a rule tells."""
    sold = deployed(admin, "sold", folder="sales", state="failed")
    address = "https://hooks.example.com/a/secret/way"
    everywhere = {"name": "all", "measure": "failed", "webhook": address}
    api.post("/alert-rules", everywhere, 201)
    api.post(
        "/alert-rules", {"name": "other", "measure": "lag", "threshold": 1, "folder": "x"}, 201
    )
    own = {"name": "own", "measure": "failed", "deployment": str(sold.pk)}
    api.post("/alert-rules", own, 201)
    Deployment.objects.update(state="failed")
    evaluate()
    assert api.get("/alerts")["count"] == 3
    viewer = Api(user_with("vic", "viewer", folder="sales"))
    rules = {r["name"]: r for r in viewer.get("/alert-rules")["items"]}
    assert rules.keys() == {"all", "own"}
    assert rules["all"]["webhook"] == "https://hooks.example.com/…"
    assert not any(r["may_change"] for r in rules.values())
    alerts = viewer.get("/alerts")
    assert alerts["count"] == 2
    assert {a["pipeline"]["name"] for a in alerts["items"]} == {"sold"}
    operator = Api(user_with("otto", "operator", folder="sales"))
    may = {r["name"]: r["may_change"] for r in operator.get("/alert-rules")["items"]}
    assert may == {"all": False, "own": True}
    assert Api(user_with("nobody")).get("/alerts")["count"] == 0


def test_alerts_are_found_by_what_they_are(admin: User, deployment: Deployment, api: Api) -> None:
    for measure, severity in (("failed", "critical"), ("backing_off", "warning")):
        AlertRule.objects.create(name=measure, measure=measure, severity=severity)
    Deployment.objects.update(state="failed")
    evaluate(now=AT)
    Deployment.objects.update(state="backing_off")
    evaluate(now=AT + timedelta(hours=1))
    id_ = str(deployment.pk)
    for query, found in {
        "": ["backing_off", "failed"],
        "?open=true": ["backing_off"],
        "?open=false": ["failed"],
        "?severity=critical": ["failed"],
        "?measure=backing_off": ["backing_off"],
        f"?deployment={id_}": ["backing_off", "failed"],
        f"?pipeline={id_}": [],
        "?page_size=1&page=2": ["failed"],
        "?to=2026-11-21T12:30:00Z": ["failed"],
        "?from=2026-11-21T13:30:00Z": ["backing_off"],
    }.items():
        assert [a["measure"] for a in api.get(f"/alerts{query}")["items"]] == found, query
    api.get("/alerts?severity=so-so", 422)


def test_what_is_long_over_is_forgotten(deployment: Deployment) -> None:
    rule = AlertRule.objects.create(name="r", measure="failed")
    for days in (1, 89, 91):
        at = timezone.now() - timedelta(days=days)
        Alert.objects.create(
            rule=rule, deployment=deployment, name="r", measure="failed", severity="warning",
            value=1, message=str(days), began_at=at, ended_at=at,
        )  # fmt: skip
    forget()
    assert [a.message for a in Alert.objects.all()] == ["1", "89"]
    look()


@pytest.mark.django_db(transaction=True)
async def test_only_who_sees_a_deployment_is_told_of_its_alerts(admin: User) -> None:
    """Each of the two hears of the failure; the other's list only counts on."""

    def begin() -> Deployment:
        AlertRule.objects.all().delete()
        AlertRule.objects.create(name="r", measure="failed")
        return deployed(admin, folder="sales")

    deployment = await sync_to_async(begin)()
    sockets = {}
    for name, folder in (("sal", "sales"), ("els", "elsewhere")):
        user = await sync_to_async(user_with)(name, "viewer", folder=folder)
        secret = (await sync_to_async(make_token)(user, "socket"))[1]
        headers = [(b"host", b"testserver"), (b"authorization", f"Bearer {secret}".encode())]
        sockets[name] = Watching(application, "/ws/deployments", headers)
        assert (await sockets[name].connect())[0]
        await sockets[name].receive()
    await sync_to_async(Deployment.objects.update)(state="failed")
    await sync_to_async(evaluate)()
    heard = {name: (await socket.receive())["event"] for name, socket in sockets.items()}
    assert heard["els"] == {"type": "hidden"}
    event = heard["sal"]
    assert (event["type"], event["deployment"]) == ("alert", str(deployment.pk))
    assert event["alert"]["message"].startswith("word-count: it failed")
    for socket in sockets.values():
        await socket.disconnect()
