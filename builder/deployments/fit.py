"""Whether an edit fits the state that is there: from which checkpoints a graph would go on."""

from typing import Any

from builder.deployments.checkpoints import there as checkpoints
from builder.deployments.models import Deployment
from runner.compile import Job
from runner.plan import Segment

Json = dict[str, Any]


def fit(deployment: Deployment, job: Job) -> Json:
    """For each segment of the job whether it goes on from a checkpoint that is there, and why not.

    `left` are the checkpoints that nothing would use any more. A checkpoint is named by the
    stateful step and a hash of all that its state depends on, so one that does not fit is never
    read: the segment begins anew.
    """
    there = _there(deployment)
    segments = [_segment(segment, there) for segment in job.segments]
    wanted = {segment.checkpoint for segment in job.segments}
    return {
        "fits": all(segment["goes_on"] for segment in segments),
        "segments": segments,
        "left": sorted(there - wanted),
    }


def beginning_anew(deployment: Deployment, job: Job) -> list[str]:
    """The ids of the segments that find no checkpoint though others of theirs are there."""
    there = _there(deployment)
    return [s.id for s in job.segments if s.checkpoint not in there and _of_step(s, there)]


def _there(deployment: Deployment) -> set[str]:
    return {folder.name for folder in checkpoints(deployment)}


def _segment(segment: Segment, there: set[str]) -> Json:
    goes_on = segment.checkpoint in there
    if goes_on:
        message = "It goes on from its checkpoint."
    elif _of_step(segment, there):
        message = (
            f"What {_step_of(segment.checkpoint)} remembers does not fit this edit: it begins "
            "anew, with its sources where their start says."
        )
    else:
        message = "It is new here: its sources begin where their start says."
    return {
        "id": segment.id,
        "mode": segment.mode,
        "checkpoint": segment.checkpoint,
        "goes_on": goes_on,
        "message": message,
    }


def _of_step(segment: Segment, there: set[str]) -> bool:
    step = _step_of(segment.checkpoint)
    return any(_step_of(name) == step for name in there)


def _step_of(checkpoint: str) -> str:
    """The stateful step that a checkpoint is named by, without the hash."""
    return checkpoint.rpartition("-")[0]
