"""The settings of Spark that an environment may change: of performance only, data and no code.

A setting of Spark can load classes, run commands, open ports, or let expressions read files. So
none is taken that is not on this list, and each has values of one form.
"""

import re
from dataclasses import dataclass

from runner.problems import Problem


@dataclass(frozen=True)
class Form:
    """How the values of a setting are written."""

    pattern: str
    words: str


SIZE = Form(r"[1-9]\d{0,6}[kmg]", "a size such as 512k, 64m or 2g")
TIME = Form(r"[1-9]\d{0,6}(ms|s|m|h)", "a time such as 100ms, 30s or 10m")
COUNT = Form(r"[1-9]\d{0,6}", "a whole number above 0")
SHARE = Form(r"0\.\d{1,4}", "a share between 0 and 1, such as 0.6")
SWITCH = Form(r"true|false", "true or false")
CODEC = Form(r"lz4|lzf|snappy|zstd", "lz4, lzf, snappy or zstd")

_ROCKSDB = "spark.sql.streaming.stateStore.rocksdb"

ALLOWED: dict[str, Form] = {
    "spark.default.parallelism": COUNT,
    "spark.executor.cores": COUNT,
    "spark.executor.memoryOverhead": SIZE,
    "spark.io.compression.codec": CODEC,
    "spark.locality.wait": TIME,
    "spark.memory.fraction": SHARE,
    "spark.memory.offHeap.enabled": SWITCH,
    "spark.memory.offHeap.size": SIZE,
    "spark.memory.storageFraction": SHARE,
    "spark.network.timeout": TIME,
    "spark.reducer.maxSizeInFlight": SIZE,
    "spark.shuffle.compress": SWITCH,
    "spark.shuffle.file.buffer": SIZE,
    "spark.shuffle.spill.compress": SWITCH,
    "spark.sql.codegen.wholeStage": SWITCH,
    "spark.sql.streaming.minBatchesToRetain": COUNT,
    "spark.sql.streaming.pollingDelay": TIME,
    "spark.sql.streaming.stateStore.maintenanceInterval": TIME,
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": COUNT,
    f"{_ROCKSDB}.blockCacheSizeMB": COUNT,
    f"{_ROCKSDB}.blockSizeKB": COUNT,
    f"{_ROCKSDB}.boundedMemoryUsage": SWITCH,
    f"{_ROCKSDB}.compactOnCommit": SWITCH,
    f"{_ROCKSDB}.maxMemoryUsageMB": COUNT,
    f"{_ROCKSDB}.trackTotalNumberOfRows": SWITCH,
    f"{_ROCKSDB}.writeBufferSizeMB": COUNT,
    "spark.task.maxFailures": COUNT,
}

# Why a setting that people try is not on the list; the first that fits is said.
_REASONS = (
    (
        r"spark\.(master|cores\.max|driver\.(cores|memory)|executor\.memory)",
        "the profile has a field of its own for it",
    ),
    (
        r".*(variable\.substitute|runSQLOnFiles).*",
        "with it expressions could read the environment or files",
    ),
    (
        r".*(shuffle\.partitions|stateStore\.(providerClass|checkpointFormatVersion)"
        r"|changelogCheckpointing|checkpointFileManagerClass|session\.timeZone).*",
        "checkpoints depend on it, so Headrace sets it",
    ),
    (r".*(java_?options|env\.|\.command|script|libraryPath).*", "it can run commands"),
    (
        r".*(class|jars|packages|plugin|listener|extension|repositories|ivy|archives|files"
        r"|python|serializer|registrator|catalog|metrics|hadoop|hive).*",
        "it can load code",
    ),
    (r".*(port|host|address|bind|\.ui\.|\.ui$|proxy|rpc|connect|eventLog).*", "it can open ports"),
    (
        r".*(ssl|auth|acl|secret|password|token|kerberos|crypto|redaction).*",
        "it decides who may come in",
    ),
)


def faults(conf: dict[str, str]) -> list[Problem]:
    """What is wrong with settings that somebody wants, each with its reason."""
    return [problem for name, value in conf.items() if (problem := _fault(name, value))]


def _fault(name: str, value: str) -> Problem | None:
    form = ALLOWED.get(name)
    if form is None:
        why = next(
            (why for pattern, why in _REASONS if re.fullmatch(pattern, name, re.IGNORECASE)),
            "it is none of the settings of performance that an environment may change",
        )
        return Problem(None, f"conf.{name[:100]}", f"{name[:100]} can't be set here: {why}.")
    if not re.fullmatch(form.pattern, value):
        return Problem(None, f"conf.{name}", f"{name} takes {form.words}.")
    return None
