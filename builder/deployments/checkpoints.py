"""Which of a deployment's checkpoints are used, and which are missed.

What runs names its checkpoints in its program: nothing else says so for certain, since a newer
compiler might name those of the same graph otherwise.
"""

import re
from pathlib import Path

from builder.deployments.models import Deployment, Run

_NAMED = re.compile(r"CHECKPOINTS\s*\+\s*['\"]/([^'\"/]+)['\"]")


def unused(deployment: Deployment) -> list[Path]:
    """The checkpoints that neither what is wanted nor what still runs goes on from."""
    programs = [deployment.script]
    for run in deployment.runs.filter(ended_at=None):
        programs.append(_program(deployment, run))
    # Of a program that names none, nobody knows what it uses.
    if not all(map(_NAMED.search, programs)):
        return []
    return [f for f in there(deployment) if not any(_names(p, f.name) for p in programs)]


def lost(deployment: Deployment) -> list[str]:
    """The checkpoints that the last run had, that are wanted again, and are there no more."""
    run = deployment.runs.exclude(running_at=None).first()
    if run is None or deployment.fresh:
        return []
    had = set(_NAMED.findall(_program(deployment, run)))
    wanted = set(_NAMED.findall(deployment.script))
    return sorted((had & wanted) - {folder.name for folder in there(deployment)})


def there(deployment: Deployment) -> list[Path]:
    """The folders of the checkpoints that are there."""
    try:
        folders = list((deployment.folder / "checkpoints").iterdir())
    except FileNotFoundError:
        return []
    return [folder for folder in folders if folder.is_dir()]


def _program(deployment: Deployment, run: Run) -> str:
    run.deployment = deployment
    try:
        return (run.folder / "job.py").read_text()
    except FileNotFoundError:
        # Not written yet: it will be the deployment's own.
        return deployment.script


def _names(program: str, checkpoint: str) -> bool:
    return re.search(rf"/{re.escape(checkpoint)}['\"]", program) is not None
