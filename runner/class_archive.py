"""The classes that a Spark session loads, written down once so that later ones start faster.

`write_class_archive` writes it (application class-data sharing, JEP 350). Java checks by itself
that an archive fits it and its jars, and goes on without one that does not.
"""

from runner.jars import FOLDER

ARCHIVE = FOLDER / "spark.jsa"
# Without them Java would write a line into every log where the archive does not fit.
_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off"


def java_options() -> str:
    """The options by which Java uses the archive; empty where there is none."""
    return f"-XX:SharedArchiveFile={ARCHIVE} {_QUIET}" if ARCHIVE.exists() else ""
