"""How long Headrace takes to know a drawing again after one edit.

    python -m tests.bench.analyze --edits 100 --json figures.json

**What is measured.** A graph of 20 and one of 100 steps, as people draw them: filters, computed
columns, exploded arrays, branches, a deduplication, counts at the ends. Each edit changes one step
anywhere in it; every fourth also changes the columns that flow out of it. Time is from the request
`POST /api/check` to the whole answer, Spark's word on columns included, on a Headrace started for
this, by one user who edits as fast as the editor asks: 100 ms after the last key.

Thirty edits before do not count.

- *beside another*: the same while a second user edits another pipeline just as fast.
- *beside a program*: the same while a program asks about another pipeline without a pause.
- *without what is remembered*: the same edits analysed in this process, where each is new, beside
  the same with what is remembered.
- *cold start*: from the start of a process to its first answer.

It takes whatever the machine has: only a quiet one gives figures worth keeping.
"""

import argparse
import copy
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import requests

from tests.bench.workloads import columns, step
from tests.headrace import Headrace

CONNECTIONS = {"local": {"type": "kafka", "bootstrap_servers": "127.0.0.1:9"}}
# Milliseconds, by number of steps.
TARGETS = {20: 150, 100: 300}
COLD_SECONDS = 10
WARM_UP = 30
BESIDE = 2.0
# The editor's own (`DEBOUNCE_MS` in useCheckedGraph.ts).
PAUSE_SECONDS = 0.1
Json = dict[str, Any]


def graph(steps: int) -> Json:
    """A graph of so many steps: chains of ten below one source, each ending in a count."""
    given = {"user": "string", "pages": "array<string>", "seconds": "int", "at": "timestamp"}
    source = {"connection": "local", "topics": ["views"], "columns": columns(given)}
    drawn = [step("views", "kafka_source", format="json", **source)]
    edges: list[Json] = []
    kinds = ["filter", "select", "select", "explode", "filter", "select", "deduplicate", "select"]
    above, place = "views", 0
    while len(drawn) < steps:
        if place == len(kinds):
            kind, place, after = "aggregate", 0, "views"
        else:
            kind, place, after = kinds[place], place + 1, ""
        id_ = f"s{len(drawn)}"
        drawn.append(step(id_, kind, **_config(kind, id_)))
        edges.append({"from": above, "to": id_})
        above = after or id_
    return {"version": 1, "steps": drawn, "edges": edges}


def _config(kind: str, id_: str) -> Json:
    return {
        "filter": {"condition": "seconds > 1 AND user IS NOT NULL"},
        "select": {
            "keep": "all",
            "columns": [{"name": f"c_{id_}", "expression": "upper(user) || seconds"}],
        },
        "explode": {"expression": "pages", "as": f"page_{id_}"},
        "deduplicate": {"columns": ["user", "seconds"]},
        "aggregate": {
            "group_by": ["user"],
            "aggregations": [{"name": "n", "function": "sum", "expression": "seconds"}],
            "window": {"kind": "tumbling", "size": "1 minute"},
        },
    }[kind]


def edits(drawn: Json, count: int, seed: int) -> Iterator[Json]:
    """The graph after one edit, after two, …: each as nobody has seen it before."""
    chance, drawn = random.Random(seed), copy.deepcopy(drawn)
    places = [s for s in drawn["steps"] if s["type"] in ("filter", "select", "aggregate")]
    for n in range(count):
        config = chance.choice(places)["config"]
        if "condition" in config:
            config["condition"] = f"seconds > {seed * count + n} AND user IS NOT NULL"
        elif "columns" in config:
            config["columns"][0]["expression"] = f"upper(user) || {seed * count + n}"
        else:
            config["aggregations"][0]["expression"] = f"seconds + {seed * count + n}"
        if n % 4 == 3:
            chosen = chance.choice([s for s in places if s["type"] == "select"])["config"]
            chosen["columns"][0]["name"] = f"c_{seed}_{n}"
        yield copy.deepcopy(drawn)


class Asked:
    """How long each answer took, in milliseconds."""

    def __init__(self, about: str, limit: float | None = None) -> None:
        self.about, self.limit, self.times = about, limit, list[float]()

    def time(self, ask: Callable[[], None]) -> None:
        begin = time.perf_counter()
        ask()
        self.times.append((time.perf_counter() - begin) * 1000)

    def percentile(self, share: float) -> float:
        return sorted(self.times)[math.ceil(share * len(self.times)) - 1]

    def tell(self) -> Json:
        p50, p95 = self.percentile(0.5), self.percentile(0.95)
        verdict = ""
        if self.limit is not None:
            verdict = f"  (p95 ≤ {self.limit:g}: {'met' if p95 <= self.limit else 'missed'})"
        print(f"  {self.about:<52} p50 {p50:6.0f} ms   p95 {p95:6.0f} ms{verdict}", flush=True)
        return {"about": self.about, "p50": p50, "p95": p95, "limit": self.limit}


def check(session: requests.Session, url: str, drawn: Json) -> None:
    """Ask for all that is known of a draft; raises where Spark had no word in it."""
    answer = session.post(f"{url}/api/check", json={"graph": drawn}, timeout=60)
    answer.raise_for_status()
    said = answer.json()
    wrong = [p for p in said["problems"] if p["severity"] == "error" and p["step"]]
    if not said["analyzed"] or wrong:
        raise SystemExit(f"No whole answer: analyzed {said['analyzed']}, {wrong[:2]}")


def asked_by_http(
    headrace: Headrace, steps: int, count: int, *, beside: float | None = None
) -> Asked:
    """Edits one after another; beside those of a second user who pauses for `beside` seconds."""
    who = {None: "after one edit", PAUSE_SECONDS: "beside another"}.get(beside, "beside a program")
    drawn = graph(steps)
    asked = Asked(f"{steps} steps, {who}", TARGETS[steps] if beside is None else None)
    # Java has compiled nothing yet of what the first edits need.
    for edited in edits(drawn, WARM_UP, seed=11):
        check(headrace.session, headrace.url, edited)
    over = threading.Event()
    other = threading.Thread(target=_edit_until, args=(headrace, steps, over, beside))
    if beside is not None:
        other.start()
    try:
        for edited in edits(drawn, count, seed=1 + (beside is not None)):
            asked.time(lambda edited=edited: check(headrace.session, headrace.url, edited))
            time.sleep(PAUSE_SECONDS)
    finally:
        over.set()
        if beside is not None:
            other.join()
    return asked


def _edit_until(headrace: Headrace, steps: int, over: threading.Event, pause: float) -> None:
    session = requests.Session()
    session.headers.update(headrace.session.headers)
    for edited in edits(graph(steps), 100_000, seed=7):
        if over.wait(pause):
            return
        check(session, headrace.url, edited)


def asked_in_process(steps: int, count: int) -> Iterator[Asked]:
    """The same edits with and without what is remembered, each after the other."""
    from runner import analyze
    from runner.graph import read_graph

    remembered = Asked(f"{steps} steps, analysis alone")
    anew = Asked(f"{steps} steps, without what is remembered")
    drawn = graph(steps)
    analyze.analyze(read_graph(drawn), CONNECTIONS)
    for edited in edits(drawn, count, seed=3):
        read = read_graph(edited)
        remembered.time(lambda read=read: _analysed(read))
        known = analyze._known.copy()
        analyze._known.clear()
        anew.time(lambda read=read: _analysed(read))
        analyze._known.update(known)
    yield remembered
    yield anew


def _analysed(read: Any) -> None:
    from runner.analyze import analyze

    if problems := analyze(read, CONNECTIONS).problems:
        raise SystemExit(f"Spark objects: {problems[0]}")


def cold_start() -> float:
    """Seconds from the start of a process to its first answer."""
    program = (
        "from tests.bench.analyze import graph, CONNECTIONS\n"
        "from runner.analyze import analyze\nfrom runner.graph import read_graph\n"
        "analyze(read_graph(graph(20)), CONNECTIONS)\nprint('known', flush=True)\nimport os\n"
        "os._exit(0)"
    )
    begin = time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout
        said = process.stdout.readline()
        seconds = time.perf_counter() - begin
    if said.strip() != b"known":
        raise SystemExit("The process ended without an answer.")
    return seconds


def main() -> None:
    words = argparse.ArgumentParser(prog="tests.bench.analyze")
    words.add_argument("--edits", type=int, default=100, help="of each graph")
    words.add_argument("--json", type=Path, help="a file for all figures")
    options = words.parse_args()
    figures: list[Json] = []
    cold = statistics.median(cold_start() for _ in range(3))
    verdict = "met" if cold <= COLD_SECONDS else "missed"
    print(f"  cold start to first answer: {cold:.1f} s  (≤ {COLD_SECONDS}: {verdict})")
    figures.append({"about": "cold start", "seconds": cold, "limit": COLD_SECONDS})
    with tempfile.TemporaryDirectory(prefix="analyze-") as folder:
        headrace = Headrace(Path(folder) / "data")
        headrace.start()
        try:
            headrace.until(lambda: _is_warm(headrace), 120)
            for steps in TARGETS:
                alone = asked_by_http(headrace, steps, options.edits)
                figures.append(alone.tell())
                for beside in (PAUSE_SECONDS, 0.0):
                    both = asked_by_http(headrace, steps, options.edits, beside=beside)
                    figures.append(both.tell())
                    ratio = both.percentile(0.5) / alone.percentile(0.5)
                    verdict = "met" if ratio <= BESIDE else "missed"
                    aim = f"  (≤ {BESIDE:g}: {verdict})" if beside else ""
                    print(f"  {'':<52} ratio {ratio:.2f}{aim}")
        finally:
            headrace.stop()
    for steps in TARGETS:
        remembered, anew = asked_in_process(steps, options.edits)
        figures += [remembered.tell(), anew.tell()]
        print(f"  {'':<52} ratio {anew.percentile(0.5) / remembered.percentile(0.5):.1f}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")


def _is_warm(headrace: Headrace) -> str | None:
    answer = headrace.post("/api/check", {"graph": graph(20)})
    return None if answer["analyzed"] else "Spark is still starting"


if __name__ == "__main__":
    main()
