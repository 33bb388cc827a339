"""How quickly a month of metrics opens.

    python -m tests.bench.history --deployments 50 --days 31 --json figures.json

**What is measured.** A database is filled with what the retention keeps of so many deployments of
eight steps and three segments that never stood still: every second of an hour, every ten seconds
of a day, every minute of a month and every hour of it. Then the API is asked, by a token and with
all that an answer takes but the network, for spans of one deployment and of all. `DATABASE_URL`
names a database to fill instead of a new SQLite file; it should be an empty one.

**Target.** A month of one, and of all, in less than a second each time. Where not, the exit code
is 1.
"""

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

STEPS = [f"step_{n}" for n in range(8)]
SEGMENTS = [f"segment_{n}" for n in range(3)]
TARGET_SECONDS = 1.0
REPEATS = 5


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--deployments", type=int, default=50)
    given.add_argument("--days", type=int, default=31)
    given.add_argument("--json", type=Path)
    asked = given.parse_args()
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        os.environ["HEADRACE_DATA"] = folder
        os.environ.setdefault("DATABASE_URL", f"sqlite:///{folder}/history.sqlite3")
        os.environ["DJANGO_SETTINGS_MODULE"] = "builder.settings"
        import django

        django.setup()
        figures = measured(asked.deployments, asked.days)
        file = Path(folder) / "history.sqlite3"
        if file.exists():
            figures["database_megabytes"] = round(file.stat().st_size / 1e6)
    print(json.dumps(figures, indent=1))
    if asked.json:
        asked.json.write_text(json.dumps(figures, indent=1))
    months = {n: f for n, f in figures["answers"].items() if n.startswith("a month")}
    slow = [n for n, f in months.items() if f["slowest_ms"] > TARGET_SECONDS * 1000]
    if slow:
        raise SystemExit(f"slower than {TARGET_SECONDS} s: {', '.join(slow)}")


def measured(deployments: int, days: int) -> dict[str, Any]:
    """Fill the database and ask the API; the figures."""
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.test import Client

    from builder.access.actions import make_token

    call_command("migrate", verbosity=0)
    user = User.objects.create_superuser("bench", password="a long password")
    began = time.monotonic()
    now = datetime.now(UTC).replace(microsecond=0)
    ids = filled(user, deployments, days, now)
    figures: dict[str, Any] = {"deployments": deployments, "days": days}
    figures["filled_in_seconds"] = round(time.monotonic() - began)
    token = make_token(user, "bench")[1]
    client = Client(headers={"Authorization": f"Bearer {token}", "Host": "localhost"})
    client.get("/api/deployments")
    figures["answers"] = answers = {}
    for name, span in (
        ("an hour", timedelta(hours=1)), ("a day", timedelta(days=1)),
        ("a week", timedelta(days=7)), ("a month", timedelta(days=days)),
    ):  # fmt: skip
        form = "%Y-%m-%dT%H:%M:%SZ"
        query = f"from={(now - span).strftime(form)}&to={now.strftime(form)}"
        paths = [f"/api/deployments/{id_}/metrics?{query}" for id_ in ids[:REPEATS]]
        answers[f"{name} of one"] = asked_for(client, paths)
        answers[f"{name} of all"] = asked_for(client, [f"/api/metrics?{query}"] * REPEATS)
    return figures


def asked_for(client: Any, paths: list[str]) -> dict[str, Any]:
    """Ask for each path; how long that took, and how large and long the last answer is."""
    took = []
    for path in paths:
        began = time.perf_counter()
        answer = client.get(path)
        took.append((time.perf_counter() - began) * 1000)
        assert answer.status_code == 200, answer.content[:500]
    told = answer.json()
    lines = told.get("deployments", {}).values()
    return {
        "median_ms": round(statistics.median(took)),
        "slowest_ms": round(max(took)),
        "kilobytes": round(len(answer.content) / 1000),
        "points": len(told["points"]) if "points" in told else sum(len(line) for line in lines),
    }


def filled(user: Any, count: int, days: int, now: datetime) -> list[Any]:
    """Make deployments, and what is kept of each, which is the same of all; their ids."""
    from builder.deployments.models import Deployment
    from builder.monitor.models import Metric, MetricBlock
    from builder.pipelines.models import Pipeline, Version

    graph: dict[str, Any] = {"version": 1, "steps": [], "edges": []}
    seconds, blocks, ids = [*points(now - timedelta(hours=1), now, 1)], made_blocks(days, now), []
    for n in range(count):
        name = f"p{n}"
        pipeline = Pipeline.objects.create(name=name, slug=name, graph=graph, owner=user)
        version = Version.objects.create(pipeline=pipeline, number=1, graph=graph, hash="")
        deployment = Deployment.objects.create(
            pipeline=pipeline, version=version, name=name, graph=graph, script="", state="running"
        )
        ids.append(deployment.pk)
        rows = (
            Metric(
                deployment=deployment,
                at=datetime.fromtimestamp(point["at"], UTC),
                **{name: value for name, value in point.items() if name not in ("at", "seconds")},
            )
            for point in seconds
        )
        Metric.objects.bulk_create(rows, batch_size=500)
        for block in blocks:
            block.pk, block.deployment_id = None, deployment.pk
        MetricBlock.objects.bulk_create(blocks, batch_size=200)
    return ids


def made_blocks(days: int, now: datetime) -> list[Any]:
    """The blocks of a deployment, unsaved."""
    from builder.monitor.blocks import LEVELS, block_of

    blocks = []
    kept = {10: timedelta(days=1), 60: timedelta(days=days), 3600: timedelta(days=days)}
    for level in LEVELS:
        span = timedelta(seconds=level.span)
        newest = datetime.fromtimestamp(now.timestamp() // level.span * level.span, UTC)
        for i in range(1, int(kept[level.every] / span) + 1):
            at = newest - span * i
            of = [*points(at, at + span, level.every)]
            blocks.append(block_of(UUID(int=0), level, at, of))
    return blocks


def points(start: datetime, end: datetime, every: int) -> Iterator[dict[str, Any]]:
    """Points of a deployment that is never the same twice."""
    first, last = int(start.timestamp()), int(end.timestamp())
    for at in range(first + every - 1, last, every):
        rows = at * 700 + random.randrange(700)
        rate = round(random.uniform(500, 900), 2)
        lag, ms = random.randrange(200), round(random.uniform(3, 30), 1)
        step = {"in": rows, "out": rows - 9, "dropped": 9, "errors": rows % 7, "rate": rate}
        segment = {
            "batch_ms": 120.5, "latency_ms": ms, "latency_p99_ms": 3 * ms, "lag": lag,
            "lag_seconds": ms / 10, "watermark_delay": ms, "state_rows": rows // 9,
            "state_bytes": rows,
        }  # fmt: skip
        yield {
            "at": at, "seconds": every, "rate": rate, "lag": lag, "lag_seconds": ms / 10,
            "latency_ms": ms, "restarts": 2, "steps": dict.fromkeys(STEPS, step),
            "segments": dict.fromkeys(SEGMENTS, segment),
        }  # fmt: skip


if __name__ == "__main__":
    main()
