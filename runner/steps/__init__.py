"""The step types, each in a file of its own. A new one is added to this list."""

from typing import Any

from runner.step_type import StepType, describe
from runner.steps.aggregate import Aggregate
from runner.steps.branch import Branch
from runner.steps.console_sink import ConsoleSink
from runner.steps.deduplicate import Deduplicate
from runner.steps.explode import Explode
from runner.steps.filter import Filter
from runner.steps.join import Join
from runner.steps.kafka_sink import KafkaSink
from runner.steps.kafka_source import KafkaSource
from runner.steps.kafka_table import KafkaTable
from runner.steps.key_by import KeyBy
from runner.steps.lookup_table import LookupTable
from runner.steps.merge import Merge
from runner.steps.peek import Peek
from runner.steps.python_map import PythonMap
from runner.steps.python_processor import PythonProcessor
from runner.steps.reduce import Reduce
from runner.steps.sample_source import SampleSource
from runner.steps.select import Select
from runner.steps.sql_query import SqlQuery
from runner.steps.to_stream import ToStream
from runner.steps.to_table import ToTable

_LISTED: tuple[type[StepType], ...] = (
    KafkaSource,
    KafkaTable,
    LookupTable,
    SampleSource,
    Filter,
    Select,
    Explode,
    Branch,
    Merge,
    KeyBy,
    Peek,
    SqlQuery,
    PythonMap,
    Aggregate,
    Reduce,
    Join,
    Deduplicate,
    ToTable,
    ToStream,
    PythonProcessor,
    KafkaSink,
    ConsoleSink,
)

STEP_TYPES: dict[str, type[StepType]] = {step_type.type: step_type for step_type in _LISTED}


def catalogue() -> list[dict[str, Any]]:
    """What the palette and the forms need to know of each step type, in the palette's order."""
    return [describe(step_type) for step_type in _LISTED]
