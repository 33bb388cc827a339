"""How long a rehearsal takes, once Spark is warm.

    python -m tests.bench.rehearse --runs 5 --json figures.json

**What is measured.** The rows of a scenario are rehearsed as people do it from the canvas, in one
process with a warm session, again and again: on the clock, and in processor seconds of Python and
Java together, which say more on a machine that does other things, too.

**Target.** Each of the five scenarios that the idea came from takes at most 2 seconds on the clock,
warm, the slowest of its runs included. Where one does not, the exit code is 1.

`--all` takes the other scenarios, too; no target stands for these. Runs before the first that
counts (`--warm-up`) have Java load and compile what rehearsals need.
"""

import argparse
import json
import os
import resource
import statistics
import time
from pathlib import Path
from typing import Any

from pyspark import SparkContext

from runner.analyze import FOR_REHEARSALS, warm_session
from runner.check import check
from runner.graph import read_graph
from runner.plan import plan
from runner.rehearse import Rehearsal, rehearse
from tests.runner import scenario
from tests.runner.drawn import SCENARIOS

CONNECTIONS = {"local": {"type": "kafka", "bootstrap_servers": "127.0.0.1:9"}}
FIVE = ("captcha", "inventory", "not-viewing", "product-views", "word-count")
TARGET_SECONDS = 2.0
Json = dict[str, Any]


def processor_seconds() -> float:
    """What this process and its Java, with all that they waited for, have used."""
    own = sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )
    gateway = SparkContext._gateway
    if gateway is None:
        return own
    # The fields after the name, which may hold anything.
    stat = Path(f"/proc/{gateway.proc.pid}/stat").read_text().rpartition(")")[2].split()
    return own + sum(map(int, stat[11:15])) / os.sysconf("SC_CLK_TCK")


def once(told: Json) -> Rehearsal:
    """Rehearse a scenario; raises SystemExit where it does not give what it must."""
    done = rehearse(read_graph(told["graph"]), told["rows"], CONNECTIONS, seconds=240)
    if done.problems:
        raise SystemExit(f"{told['name']}: {done.problems[0].message}")
    for sink, expect in told["expect"].items():
        rows = done.dead_letters if sink == "dead_letters" else done.steps[sink]["rows"]
        if differs := scenario.difference(expect, rows):
            raise SystemExit(f"{told['name']}, {sink}: {differs}")
    return done


def measured(name: str, told: Json, runs: int) -> Json:
    """The figures of one scenario."""
    clock, processor = [], []
    for _ in range(runs):
        used, begun = processor_seconds(), time.perf_counter()
        once(told)
        clock.append(time.perf_counter() - begun)
        processor.append(processor_seconds() - used)
    batches = 1 + max(int(row.get("_batch", 0)) for rows in told["rows"].values() for row in rows)
    graph = read_graph(told["graph"])
    planned = plan(graph, check(graph, CONNECTIONS).rows, "micro_batch")
    return {
        "scenario": name,
        "p50": statistics.median(clock),
        "max": max(clock),
        "processor": statistics.median(processor),
        "batches": batches,
        "segments": sum(segment.shape != "dead_letters" for segment in planned.segments),
        "limit": TARGET_SECONDS if name in FIVE else None,
    }


def tell(figures: Json) -> None:
    """One line of the table."""
    met = "" if figures["limit"] is None else "met" if is_met(figures) else "missed"
    print(
        f"  {figures['scenario']:<24}{figures['p50']:8.2f}{figures['max']:8.2f}"
        f"{figures['processor']:11.2f}{figures['batches']:9}{figures['segments']:10}  {met}",
        flush=True,
    )


def is_met(figures: Json) -> bool:
    """Whether a scenario took no longer than it may."""
    return figures["limit"] is None or bool(figures["max"] <= figures["limit"])


def main() -> int:
    words = argparse.ArgumentParser(prog="tests.bench.rehearse")
    words.add_argument("--runs", type=int, default=5, help="of each scenario")
    words.add_argument("--warm-up", type=int, default=3, help="runs of all five before")
    words.add_argument("--all", action="store_true", help="the other scenarios, too")
    words.add_argument("--only", nargs="*", metavar="NAME", help="these scenarios alone")
    words.add_argument("--json", type=Path, help="a file for all figures")
    options = words.parse_args()
    told = {path.stem: json.loads(path.read_text()) for path in SCENARIOS}
    names = options.only or [*FIVE, *(n for n in told if options.all and n not in FIVE)]
    begun = time.perf_counter()
    # As the rehearsal worker does.
    warm_session(compiling=FOR_REHEARSALS)
    for _ in range(options.warm_up):
        for name in options.only or FIVE:
            once(told[name])
    print(f"  warm after {time.perf_counter() - begun:.1f} s, {options.runs} runs each\n")
    print(f"  {'seconds':<24}{'p50':>8}{'max':>8}{'processor':>11}{'batches':>9}{'segments':>10}")
    figures = []
    for name in names:
        figures.append(measured(name, told[name], options.runs))
        tell(figures[-1])
    print(f"\n  at most {TARGET_SECONDS:g} s on the clock, for each of the five")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0 if all(map(is_met, figures)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
