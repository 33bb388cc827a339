"""Job processes small enough to start by the dozen: `launch` as it is, without Spark.

What runs is the deployment's own script, a few lines of Python after `PRELUDE`.
"""

import subprocess
import sys
import threading
from pathlib import Path

from runner import launch as launcher

PRELUDE = """
import fcntl, json, os, signal, sys, time, pathlib

folder = pathlib.Path(sys.argv[2])
about = json.loads((folder / "run.json").read_text())

def say(**event):
    with (folder / "events.jsonl").open("a") as file:
        file.write(json.dumps({"at": "2026-01-01T00:00:00+00:00", **event}) + "\\n")

def exit(code, message="", step=None):
    about = {"code": code, "state": "stopped", "message": message, "step": step,
             "permanent": code == 65}
    (folder / "exit.json").write_text(json.dumps(about))
    sys.exit(code)

def running():
    say(type="state", state="running", message="Reading lines.", step=None)

def hold():
    lock = os.open(pathlib.Path(about["checkpoints"]) / "lock", os.O_RDWR | os.O_CREAT)
    if about["standby"]:
        (folder / "ready").touch()
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock

def until_stopped():
    signal.signal(signal.SIGTERM, lambda *_: exit(0, "Stopped as asked."))
    while True:
        time.sleep(0.05)

held = hold()
"""


def launch_small(run_dir: Path) -> launcher.JobProcess:
    """Start the folder's job.py in a session of its own, by the same contract as `launch`."""
    with (run_dir / "log.txt").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, run_dir / "job.py", "runner.host", run_dir.resolve()],
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    started = launcher.identify(process.pid)
    assert started is not None
    # Waited for, as `launch` does: else a dead one would stay.
    threading.Thread(target=process.wait, daemon=True).start()
    return started
