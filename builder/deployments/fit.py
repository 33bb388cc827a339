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
    there = {folder.name for folder in checkpoints(deployment)}
    segments = [_segment(segment, there) for segment in job.segments]
    wanted = {segment.checkpoint for segment in job.segments}
    return {
        "fits": all(segment["goes_on"] for segment in segments),
        "segments": segments,
        "left": sorted(there - wanted),
    }


def beginning_anew(deployment: Deployment, job: Job) -> list[str]:
    """The ids of the segments that find no checkpoint though others of theirs are there."""
    there = {folder.name for folder in checkpoints(deployment)}
    return [s.id for s in job.segments if s.checkpoint not in there and _of_step(s, there)]


def _segment(segment: Segment, there: set[str]) -> Json:
    step = segment.checkpoint.rpartition("-")[0]
    if segment.checkpoint in there:
        goes_on, message = True, "It goes on from its checkpoint."
    elif _of_step(segment, there):
        goes_on = False
        message = (
            f"What {step} remembers does not fit this edit: it begins anew, with its sources "
            "where their start says."
        )
    else:
        goes_on = False
        message = "It is new here: its sources begin where their start says."
    return {
        "id": segment.id,
        "mode": segment.mode,
        "checkpoint": segment.checkpoint,
        "goes_on": goes_on,
        "message": message,
    }


def _of_step(segment: Segment, there: set[str]) -> bool:
    step = segment.checkpoint.rpartition("-")[0]
    return any(name.rpartition("-")[0] == step for name in there)
