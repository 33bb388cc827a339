"""The process of a run: its folder, its start, and whether it is still the same process."""

import json
import os
from pathlib import Path

from builder.deployments.models import Run
from builder.environments.models import masks_of, profile_of, rows_in
from runner import launch as launcher
from runner.events import READY
from runner.jars import spark_jars


def write_folder(run: Run) -> None:
    """Write all that the run's process needs, readable by its owner only."""
    deployment = run.deployment
    profile = profile_of(deployment.environment)
    connections = rows_in(deployment.environment)
    checkpoints = deployment.folder / "checkpoints"
    for folder in (run.folder, checkpoints):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    about = {
        "deployment": str(deployment.id),
        "run": str(run.id),
        "name": deployment.name,
        "epoch": run.epoch,
        "standby": run.standby,
        "fresh": deployment.fresh,
        "graph": deployment.graph,
        "segments": deployment.segments,
        "topics": deployment.topics,
        "conf": {**profile.runner_conf, **deployment.conf},
        # As they are now: the embedded broker may have moved since it was deployed.
        "masks": masks_of(deployment.environment),
        "connections": {name: row.for_runner() for name, row in connections.items()},
        "checkpoints": str(checkpoints),
        "master": profile.runner_master,
        "jars": [str(jar) for jar in spark_jars()],
    }
    _write(run.folder / "run.json", json.dumps(about, indent=1))
    used = {topic["connection"] for topic in deployment.topics} & connections.keys()
    opened = {name: connections[name].opened_secrets() for name in used}
    if secrets := {name: found for name, found in opened.items() if found}:
        # Read by the process alone, which then deletes it.
        _write(run.folder / launcher.SECRETS, json.dumps(secrets))
    _write(run.folder / "job.py", deployment.script)


def start(run: Run) -> None:
    """Write the run's folder, start its process, note on the run (unsaved) which one it is.

    Raises OSError where it can't be started.
    """
    write_folder(run)
    _identify(run, launcher.launch(run.folder))


def adopt(run: Run) -> bool:
    """Note on the run (unsaved) the process that was started for it, if there is one.

    Needed where a worker died between starting a process and saving which one it is.
    """
    folder = os.fsencode(run.folder.resolve())
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            arguments = (entry / "cmdline").read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if b"runner.host" in arguments and folder in arguments:
            process = launcher.identify(int(entry.name))
            if process is not None:
                _identify(run, process)
                return True
    return False


def is_alive(run: Run) -> bool:
    """Whether the run's process lives: that very process, since the same boot."""
    return run.pid is not None and launcher.is_alive(_process(run))


def is_ready(run: Run) -> bool:
    """Whether a run that stands by has all it needs but the checkpoints."""
    return (run.folder / READY).exists()


def sign_of_life(run: Run) -> int | None:
    """What changes every few seconds while the run's process is well; None before it began."""
    try:
        return (run.folder / "events.jsonl").stat().st_mtime_ns
    except FileNotFoundError:
        return None


def said(run: Run) -> object:
    """What changes whenever the run's process has said more; None before it began."""
    try:
        found = (run.folder / "events.jsonl").stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size


def ask_to_stop(run: Run) -> None:
    """Ask the process to stop cleanly; it takes its time."""
    launcher.stop(_process(run))


def kill(run: Run) -> None:
    """End the process and all that it started, at once."""
    launcher.kill(_process(run))


def forget_secrets(run: Run) -> None:
    """Delete what the run's process would have deleted, had it come so far."""
    (run.folder / launcher.SECRETS).unlink(missing_ok=True)


def exit_of(run: Run) -> dict[str, object] | None:
    """How the process said it ended; None where it could not say."""
    try:
        said: dict[str, object] = json.loads((run.folder / "exit.json").read_text())
        return said
    except (FileNotFoundError, json.JSONDecodeError):
        return None


def _write(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)


def _identify(run: Run, process: launcher.JobProcess) -> None:
    run.boot_id = process.boot_id
    run.pid = process.pid
    run.start_ticks = process.start_ticks


def _process(run: Run) -> launcher.JobProcess:
    assert run.pid is not None
    assert run.start_ticks is not None
    return launcher.JobProcess(boot_id=run.boot_id, pid=run.pid, start_ticks=run.start_ticks)
