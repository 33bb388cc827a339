"""The step types, each in a file of its own. A new one is added to this list."""

from typing import Any

from runner.step_type import StepType, describe
from runner.steps.aggregate import Aggregate
from runner.steps.branch import Branch
from runner.steps.console_sink import ConsoleSink
from runner.steps.explode import Explode
from runner.steps.filter import Filter
from runner.steps.join import Join
from runner.steps.kafka_sink import KafkaSink
from runner.steps.kafka_source import KafkaSource
from runner.steps.lookup_table import LookupTable
from runner.steps.merge import Merge
from runner.steps.sample_source import SampleSource
from runner.steps.select import Select

_LISTED: tuple[type[StepType], ...] = (
    KafkaSource,
    LookupTable,
    SampleSource,
    Filter,
    Select,
    Explode,
    Branch,
    Merge,
    Aggregate,
    Join,
    KafkaSink,
    ConsoleSink,
)

STEP_TYPES: dict[str, type[StepType]] = {step_type.type: step_type for step_type in _LISTED}


def catalogue() -> list[dict[str, Any]]:
    """What the palette and the forms need to know of each step type, in the palette's order."""
    return [describe(step_type) for step_type in _LISTED]
