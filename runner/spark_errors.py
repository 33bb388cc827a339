"""What Spark's errors mean for people: whose fault, at which step, in one sentence."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from runner.sql import suggestion

Fault = Literal["world", "permanent", "crash"]

_WORLD_CLASSES = re.compile(
    r"org\.apache\.kafka\.common\.errors\.(Timeout|UnknownTopicOrPartition|Network|Disconnect"
    r"|BrokerNotAvailable|NotLeaderOrFollower|LeaderNotAvailable|NotEnoughReplicas\w*"
    r"|CoordinatorNotAvailable|CoordinatorLoadInProgress|Retriable|BrokerIdNotRegistered)Exception"
    r"|org\.apache\.kafka\.common\.KafkaException.*No resolvable bootstrap"
    r"|org\.apache\.kafka\.common\.config\.ConfigException.*No resolvable bootstrap"
    r"|java\.net\.(Connect|UnknownHost|SocketTimeout|NoRouteToHost)Exception"
)
_REFUSED_CLASSES = re.compile(
    r"org\.apache\.kafka\.common\.errors\.\w*(Authentication|Authorization)Exception"
)
# Conditions of a query that would fail in the same way again.
_PERMANENT = re.compile(
    r"STATE_STORE_|STATEFUL_|STDS_|CHECKPOINT_|STREAMING_CHECKPOINT|STREAMING_STATEFUL"
    r"|STREAMING_REAL_TIME_MODE|KAFKA_DATA_LOSS|INCOMPATIBLE_|UNSUPPORTED_STREAMING"
    r"|INVALID_CHECKPOINT|CANNOT_LOAD_STATE_STORE|CONCURRENT_STREAM_LOG_UPDATE"
)
_OF_PYTHON = re.compile(r"RuntimeError: step (\w+): (.*)")
# What the program says of a row of its own accord; people's expressions can't raise.
_OF_PROGRAM = re.compile(r"step (\w+): (.*)")
_OUT_OF_RANGE = re.compile(r"OffsetOutOfRange|is out of range for partition")
_BROKEN_LOG = re.compile(r"Incomplete log file|malformed (log|offset|commit)|metadata")
_FULL_DISK = re.compile(r"No space left on device|Disk quota exceeded")
_EXECUTOR_LOST = re.compile(
    r"ExecutorLostFailure .*?Reason: (.+?)\.?\s*(?:Driver stacktrace|\n|$)", re.S
)
_SENTENCES = {
    "DIVIDE_BY_ZERO": "A row divides by zero. Use try_divide, which gives null instead.",
    "CAST_INVALID_INPUT": "{expression} is no {targetType}. Use try_cast, which gives null "
    "where a value does not fit.",
    "CAST_OVERFLOW": "{value} is too large for {targetType}. Use a larger type, or try_cast.",
    "ARITHMETIC_OVERFLOW": "A number is too large for its type. Cast to a larger one first.",
    "INVALID_ARRAY_INDEX": "An array has {arraySize} elements, and {indexValue} is asked for. "
    "Use get or try_element_at.",
    "UNRESOLVED_COLUMN": "There is no column {objectName}.",
    "UNRESOLVED_FIELD": "There is no field {fieldName} in {columnPath}.",
    "FIELD_NOT_FOUND": "There is no field {fieldName}.",
    "UNRESOLVED_ROUTINE": "There is no function {routineName}.",
    "WRONG_NUM_ARGS": "{functionName} takes {expectedNum} arguments, not {actualNum}.",
    "AMBIGUOUS_REFERENCE": "{name} could be {referenceNames}; rename one of them before.",
    "PARSE_SYNTAX_ERROR": "The expression can't be read near {error}.",
    "COLUMN_ALREADY_EXISTS": "There are two columns {columnName}; rename one.",
    "CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT": "Real time holds more cores than are free: the "
    "topics have more partitions than this job was started for, or the Spark cluster has lost "
    "some. It starts anew.",
    "KAFKA_DATA_LOSS": "Records that were not read yet are gone from Kafka (a topic was made "
    "anew, or kept too short). Start with a new checkpoint to go on from what is there.",
    "STREAMING_CHECKPOINT_MISSING_METADATA_FILE": "The checkpoint lacks its metadata file: it "
    "was damaged. Restore it, or start with a new checkpoint.",
    "CONCURRENT_STREAM_LOG_UPDATE": "Another job writes to the same checkpoint.",
}


@dataclass(frozen=True)
class Cause:
    """One exception of a chain: its Java class, Spark's condition, and what Spark filled in.

    `fragments` are the pieces of expressions at fault, `lines` the lines of the program.
    """

    java_class: str
    message: str
    condition: str | None = None
    sql_state: str | None = None
    parameters: Mapping[str, str] | None = None
    fragments: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Judged:
    """Whose fault an error is, in a sentence for people; `of_row` where a row brought it about."""

    fault: Fault
    message: str
    step: str | None = None
    of_row: bool = False


def causes(error: BaseException) -> list[Cause]:
    """An error of PySpark and all it was caused by, the outermost first."""
    chain: list[Cause] = []
    java = getattr(error, "_origin", None) or getattr(error, "java_exception", None)
    if java is None and hasattr(error, "getCondition"):
        java = getattr(getattr(error, "_cause", None), "_origin", None)
    if java is None:
        return [Cause(type(error).__name__, str(error))]
    while java is not None and len(chain) < 20:
        chain.append(_cause(java))
        java = java.getCause()
    return chain


def judge(chain: Iterable[Cause], program: str, steps: Iterable[str]) -> Judged:
    """Say whose fault an error is, what happened, and at which step where that can be known.

    `program` is the source that ran, `steps` the ids that it may bind.
    """
    chain = list(chain)
    step = _step_at_fault(chain, program, frozenset(steps))
    if any(_FULL_DISK.search(cause.message) for cause in chain):
        return Judged("world", "The disk is full. Make room, and the job goes on by itself.")
    if any(_OUT_OF_RANGE.search(f"{cause.java_class}: {cause.message}") for cause in chain):
        # In real time Kafka's client says so before Spark does.
        return Judged("permanent", _SENTENCES["KAFKA_DATA_LOSS"], step)
    for cause in reversed(chain):
        text = f"{cause.java_class}: {cause.message}"
        if _REFUSED_CLASSES.search(text):
            return Judged("permanent", f"Kafka refuses access: {_first(cause.message)}", step)
        if _WORLD_CLASSES.search(text):
            return Judged(
                "world", f"Kafka does not answer as it should: {_first(cause.message)}", step
            )
    for cause in reversed(chain):
        # What the program says of Python that people wrote; given the same rows it says it again.
        if said := _OF_PYTHON.search(cause.message):
            message = f"The Python of this step failed. {said[2]}"
            return Judged("permanent", message, said[1], of_row=True)
        if cause.condition == "USER_RAISED_EXCEPTION" and (
            said := _OF_PROGRAM.match((cause.parameters or {}).get("errorMessage", ""))
        ):
            return Judged("permanent", said[2], said[1], of_row=True)
    for cause in reversed(chain):
        if cause.condition and cause.condition != "STREAM_FAILED":
            return Judged(_fault(cause), sentence(cause), step, of_row=_is_of_row(cause))
    # That a query failed says no more than the exception which ended it.
    inner = [cause for cause in chain if cause.condition != "STREAM_FAILED"] or chain
    for cause in reversed(inner):
        if "AnalysisException" in cause.java_class or "ParseException" in cause.java_class:
            return Judged("permanent", _first(cause.message), step)
        if _BROKEN_LOG.search(cause.message):
            # The exception around it names the file.
            told = max((c.message for c in inner if _BROKEN_LOG.search(c.message)), key=len)
            advice = "Restore it, or start with a new checkpoint."
            message = f"The checkpoint can't be read: {_first(told)} {advice}"
            return Judged("permanent", message, step)
        if "OutOfMemoryError" in cause.java_class + cause.message:
            return Judged("crash", "The job ran out of memory.", step)
        if lost := _EXECUTOR_LOST.search(cause.message):
            message = (
                f"A machine of the Spark cluster is gone, or out of memory: {lost[1].strip()}."
            )
            return Judged("crash", message, step)
    return Judged("crash", _first(inner[-1].message) or inner[-1].java_class, step)


def sentence(cause: Cause) -> str:
    """Spark's error in plain words, with its suggestion."""
    parameters = {k: _plain(v) for k, v in (cause.parameters or {}).items()}
    main = (cause.condition or "").partition(".")[0]
    text = _SENTENCES.get(main)
    if text is not None:
        try:
            text = text.format_map(parameters)
        except KeyError:
            text = None
    if text is None:
        where = parameters.get("sqlExpr", "").strip('"')
        text = _first(cause.message)
        return f"In {where}: {text}" if where and where not in text else text
    name = parameters.get("objectName") or parameters.get("fieldName")
    there = parameters.get("proposal") or parameters.get("fields")
    if name and there:
        text += " " + suggestion(name, there.split(", "))
    return text


def _fault(cause: Cause) -> Fault:
    condition = cause.condition or ""
    if condition == "CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT":
        return "world"
    # SQL states of class 22 are of the data, 42 of the program: replaying gives the same.
    if _PERMANENT.match(condition) or (cause.sql_state or "")[:2] in ("22", "42", "0A"):
        return "permanent"
    return "crash"


def _is_of_row(cause: Cause) -> bool:
    """Whether a value that a row holds is at fault."""
    of_data = (cause.sql_state or "").startswith("22")
    return of_data and not _PERMANENT.match(cause.condition or "")


def _cause(java: Any) -> Cause:
    condition = state = None
    parameters: dict[str, str] = {}
    fragments: list[str] = []
    lines: list[int] = []
    name = str(java.getClass().getName())
    if _is_spark_throwable(java):
        condition, state = java.getCondition(), java.getSqlState()
        given = java.getMessageParameters()
        parameters = {str(k): str(given.get(k)) for k in given.keySet().toArray()}
        for context in java.getQueryContext() or ():
            fragments += [context.fragment()] if context.fragment() else []
            if context.contextType().toString() == "DataFrame":
                at = re.search(r":(\d+)$", context.callSite().strip())
                lines += [int(at[1])] if at else []
    return Cause(
        name,
        str(java.getMessage() or ""),
        condition,
        state,
        parameters,
        tuple(fragments),
        tuple(lines),
    )


def _is_spark_throwable(java: Any) -> bool:
    kind = java.getClass()
    while kind is not None:
        if any(i.getName() == "org.apache.spark.SparkThrowable" for i in kind.getInterfaces()):
            return True
        kind = kind.getSuperclass()
    return False


def _step_at_fault(chain: list[Cause], program: str, steps: frozenset[str]) -> str | None:
    try:
        statements = list(_statements(program, steps))
    except SyntaxError:
        return None
    for cause in reversed(chain):
        for line in cause.lines:
            for step, first, last, _ in statements:
                if first <= line <= last:
                    return step
        for fragment in sorted(cause.fragments, key=len, reverse=True):
            found = {step for step, _, _, texts in statements if any(fragment in t for t in texts)}
            if len(found) == 1:
                return found.pop()
    return None


def _statements(
    program: str, steps: frozenset[str]
) -> Iterator[tuple[str, int, int, tuple[str, ...]]]:
    """Each statement that binds a step: the step, its first and last line, the texts in it."""
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            step = node.targets[0].id
            if step in steps:
                texts = tuple(
                    c.value
                    for c in ast.walk(node)
                    if isinstance(c, ast.Constant) and isinstance(c.value, str)
                )
                yield step, node.lineno, node.end_lineno or node.lineno, texts


def _first(message: str) -> str:
    """The message without Spark's name for it, its advice on settings, and its plans."""
    text = re.sub(r"^\[[\w.]+\]\s*", "", message.strip())
    text = re.split(r"\s*(SQLSTATE:|== SQL|== DataFrame|JVM stacktrace|\n\n|\n\tat |;\n)", text)[0]
    text = re.sub(r'^Cannot resolve ".*?" due to data type mismatch: ', "", text)
    text = re.sub(r"\s*If necessary,? set .*?(error\.|$)", "", text, flags=re.DOTALL)
    text = _plain(" ".join(text.split()))
    return text if text.endswith((".", "!", "?")) or not text else f"{text}."


def _plain(text: str) -> str:
    return text.replace("`", "").strip()
