"""Write the class archive: `python -m runner.write_class_archive`.

A small session rehearses a graph, and its Java writes down the classes that it loaded.
"""

import os
from typing import Any

from pyspark import SparkContext

from runner.analyze import warm_session
from runner.class_archive import ARCHIVE
from runner.graph import read_graph
from runner.rehearse import rehearse

_SECONDS = 240


def _reading(id_: str, type_: str, columns: dict[str, str], **more: Any) -> dict[str, Any]:
    """A step that reads the topic of its name."""
    declared = [{"name": name, "type": spark_type} for name, spark_type in columns.items()]
    config = {"connection": "local", "topics": [id_], "format": "json", "columns": declared}
    return {"id": id_, "type": type_, "config": {**config, **more}}


_GRAPH = {
    "version": 1,
    "steps": [
        _reading("views", "kafka_source", {"user": "string", "seconds": "int"}),
        _reading("users", "kafka_table", {"user": "string", "name": "string"}, key=["user"]),
        {"id": "long", "type": "filter", "config": {"condition": "seconds > 1"}},
        {
            "id": "named",
            "type": "join",
            "config": {"kind": "left", "on": [{"left": "user", "right": "user"}]},
        },
        {
            "id": "counts",
            "type": "aggregate",
            "config": {
                "group_by": ["user"],
                "aggregations": [{"name": "views", "function": "count"}],
                "window": {"kind": "tumbling", "size": "1 minute"},
            },
        },
        {"id": "out", "type": "kafka_sink", "config": {"connection": "local", "topic": "out"}},
        {"id": "all", "type": "kafka_sink", "config": {"connection": "local", "topic": "all"}},
    ],
    "edges": [
        {"from": "views", "to": "long"},
        {"from": "long", "to": "named", "port": "left"},
        {"from": "users", "to": "named", "port": "right"},
        {"from": "named", "to": "all"},
        {"from": "long", "to": "counts"},
        {"from": "counts", "to": "out"},
    ],
}


_ROWS: dict[str, list[dict[str, Any]]] = {
    "views": [{"user": "ada", "seconds": 3, "_batch": n} for n in range(2)],
    "users": [{"user": "ada", "name": "Ada"}],
}


def write() -> None:
    """Write the archive anew; takes about a minute, once.

    Raises ChildProcessError where Spark does not run here or Java writes none.
    """
    fresh = ARCHIVE.with_suffix(f".{os.getpid()}")
    spark = warm_session(archive=f"-XX:ArchiveClassesAtExit={fresh}")
    connections = {"local": {"type": "kafka", "bootstrap_servers": "localhost:9092"}}
    done = rehearse(read_graph(_GRAPH), _ROWS, connections, seconds=_SECONDS)
    if done.problems:
        raise ChildProcessError("; ".join(problem.message for problem in done.problems))
    gateway = SparkContext._gateway
    assert gateway is not None
    spark.stop()
    gateway.shutdown()
    # Java ends when nobody holds its input any more, and writes before it does.
    gateway.proc.stdin.close()
    gateway.proc.wait(_SECONDS)
    if not fresh.exists():
        raise ChildProcessError("Java wrote no class archive.")
    # Sessions that start meanwhile see a whole one or none.
    fresh.replace(ARCHIVE)


if __name__ == "__main__":
    write()
