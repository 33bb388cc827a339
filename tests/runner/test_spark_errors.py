"""Whose fault an error is, told from the chain of exceptions as Spark gives it."""

import pytest

from runner.spark_errors import Cause, judge, sentence

PROGRAM = """\
lines = source.select(F.expr("value"))
shares = lines.withColumn(
    "share", F.expr("100 / n")
)
halves = lines.withColumn("half", F.expr("n / 2"))
"""
STEPS = ["lines", "shares", "halves"]
STREAM_FAILED = Cause(
    "org.apache.spark.sql.streaming.StreamingQueryException",
    "[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: Incomplete log file",
    "STREAM_FAILED",
    "XXKST",
)


def kafka(name, message="oh dear"):
    return Cause(f"org.apache.kafka.common.errors.{name}", message)


@pytest.mark.parametrize(
    ("cause", "fault"),
    [
        (kafka("TimeoutException", "Topic x not present in metadata after 60000 ms."), "world"),
        (kafka("UnknownTopicOrPartitionException"), "world"),
        (Cause("java.net.ConnectException", "Connection refused"), "world"),
        (Cause("org.apache.kafka.common.KafkaException", "No resolvable bootstrap urls"), "world"),
        (kafka("SaslAuthenticationException", "Authentication failed"), "permanent"),
        (kafka("TopicAuthorizationException", "Not authorized"), "permanent"),
        (kafka("x", "Fetch position 1 is out of range for partition lines-2."), "permanent"),
        (Cause("java.io.IOException", "No space left on device"), "world"),
        (Cause("java.lang.OutOfMemoryError", "Java heap space"), "crash"),
        (Cause("java.lang.IllegalStateException", "Incomplete log file"), "permanent"),
        (Cause("java.lang.NullPointerException", "null"), "crash"),
        (Cause("x", "m", "CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT", "53000"), "world"),
        (Cause("x", "m", "KAFKA_DATA_LOSS.START_OFFSET_RESET", "22000"), "permanent"),
        (Cause("x", "m", "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE", "42K06"), "permanent"),
        (Cause("x", "m", "DIVIDE_BY_ZERO", "22012"), "permanent"),
        (Cause("x", "m", "INTERNAL_ERROR", "XX000"), "crash"),
        (Cause("org.apache.spark.sql.AnalysisException", "[SOME] no"), "permanent"),
    ],
)
def test_whose_fault(cause, fault):
    judged = judge([STREAM_FAILED, cause], PROGRAM, STEPS)
    assert judged.fault == fault
    assert judged.message
    assert "runId" not in judged.message
    assert judged.step is None


def test_a_damaged_checkpoint_is_named_with_what_to_do():
    file = "file:/data/checkpoints/counts-1/offsets/7"
    around = Cause(
        "java.lang.IllegalStateException",
        f"Failed to read log file {file}. Incomplete log file in the offset log",
    )
    inside = Cause("java.lang.IllegalStateException", "Incomplete log file in the offset log")
    judged = judge([STREAM_FAILED, around, inside], PROGRAM, STEPS)
    assert (judged.fault, file in judged.message) == ("permanent", True)
    assert judged.message.endswith("Restore it, or start with a new checkpoint.")


def test_a_machine_that_is_gone_is_no_fault_of_the_program():
    message = (
        "Job aborted due to stage failure: Task 0 in stage 2.0 failed 1 times, most recent "
        "failure: Lost task 0.0 in stage 2.0 (TID 3) (10.0.0.7 executor 0): "
        "ExecutorLostFailure (executor 0 exited unrelated to the running tasks) Reason: "
        "worker lost: 10.0.0.7:41983 got "
        "disassociated\nDriver stacktrace:"
    )
    judged = judge(
        [STREAM_FAILED, Cause("org.apache.spark.SparkException", message)], PROGRAM, STEPS
    )
    assert judged.fault == "crash"
    assert judged.message == (
        "A machine of the Spark cluster is gone, or out of memory: "
        "worker lost: 10.0.0.7:41983 got disassociated."
    )


def test_the_step_is_found_by_its_line():
    cause = Cause("x", "m", "DIVIDE_BY_ZERO", "22012", lines=(3,))
    assert judge([STREAM_FAILED, cause], PROGRAM, STEPS).step == "shares"


def test_the_step_is_found_by_its_expression():
    cause = Cause("x", "m", "DIVIDE_BY_ZERO", "22012", fragments=("n / 2",))
    assert judge([cause], PROGRAM, STEPS).step == "halves"


def test_a_row_that_the_program_refuses_names_its_step():
    said = {"errorMessage": "step halves: A row has no topic."}
    judged = judge([Cause("x", "m", "USER_RAISED_EXCEPTION", "P0001", said)], PROGRAM, STEPS)
    assert (judged.fault, judged.step, judged.of_row) == ("permanent", "halves", True)
    assert judged.message == "A row has no topic."


def test_an_expression_that_several_steps_have_blames_none():
    cause = Cause("x", "m", "DIVIDE_BY_ZERO", "22012", fragments=("n",))
    assert judge([cause], PROGRAM, STEPS).step is None


def test_no_plan_and_no_advice_on_settings_reach_people():
    message = (
        "[SOME_CONDITION] The value `x` is odd. If necessary set "
        '"spark.sql.ansi.enabled" to "false" to bypass this error. SQLSTATE: 22018\n'
        "== SQL (line 1, position 1) ==\nx\n^\n\nJVM stacktrace:\n\tat org.apache.Some"
    )
    judged = judge([Cause("x", message, "SOME_CONDITION", "22018")], PROGRAM, STEPS)
    assert judged.message == "The value x is odd."


def test_a_missing_column_is_suggested():
    cause = Cause(
        "x", "m", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "42703",
        {"objectName": "`usr`", "proposal": "`n`, `user`"},
    )  # fmt: skip
    judged = judge([cause], PROGRAM, STEPS)
    assert judged.message == "There is no column usr. Did you mean user?"


@pytest.mark.parametrize(
    ("condition", "parameters", "told"),
    [
        (
            "FIELD_NOT_FOUND",
            {"fieldName": "`citty`", "fields": "`street`, `city`"},
            "There is no field citty. Did you mean city?",
        ),
        (
            "UNRESOLVED_FIELD.WITH_SUGGESTION",
            {"fieldName": "`citty`", "columnPath": "`address`", "proposal": "`street`, `city`"},
            "There is no field citty in address. Did you mean city?",
        ),
        (
            "UNRESOLVED_COLUMN.WITH_SUGGESTION",
            {"objectName": "`amont`", "proposal": "`amount`, `user`"},
            "There is no column amont. Did you mean amount?",
        ),
        (
            "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION",
            {"objectName": "`amont`"},
            "There is no column amont.",
        ),
    ],
)
def test_what_was_perhaps_meant_is_said(condition, parameters, told):
    assert sentence(Cause("x", "m", condition, "42000", parameters)) == told
