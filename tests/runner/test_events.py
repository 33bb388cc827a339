"""Events survive what happens to files: half lines, garbage, growing too large."""

import json
import os
import threading

import pytest

from runner.events import EventLog, read_events


def read_on(path, offset=0):
    """All there is from an offset, as a reader that asks until nothing comes."""
    found = []
    while True:
        events, offset = read_events(path, offset)
        if not events:
            return found, offset
        found += events


def test_a_file_that_is_not_there_has_no_events(tmp_path):
    assert read_events(tmp_path / "events.jsonl", 0) == ([], 0)
    assert read_events(tmp_path / "events.jsonl", 70) == ([], 70)


def test_events_are_read_once_and_in_order(tmp_path):
    path = tmp_path / "events.jsonl"
    log = EventLog(path)
    log.write({"type": "log", "level": "info", "message": "één\nline"})
    events, offset = read_events(path, 0)
    assert [e["message"] for e in events] == ["één\nline"]
    assert events[0]["at"].endswith("+00:00")
    assert read_events(path, offset) == ([], offset)
    log.write({"type": "state", "state": "running"})
    events, _ = read_events(path, offset)
    assert [e["type"] for e in events] == ["state"]


def test_a_line_half_written_is_left_for_the_next_time(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"type":"log"}\n{"type":"sta')
    events, offset = read_events(path, 0)
    assert (events, offset) == ([{"type": "log"}], 15)
    with path.open("ab") as file:
        file.write(b'te"}\n')
    assert read_events(path, offset)[0] == [{"type": "state"}]


@pytest.mark.parametrize(
    "garbage", [b"{nonsense", b"\xff\xfe", b"[1]", b'{"no": "type"}', b"7", b""]
)
def test_garbage_is_reported_and_passed(tmp_path, garbage):
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"type":"log"}\n' + garbage + b'\n{"type":"state"}\n')
    events, offset = read_events(path, 0)
    assert [e["type"] for e in events] == ["log", "log", "state"]
    assert "can't be read" in events[1]["message"]
    assert offset == path.stat().st_size


def test_threads_do_not_mix_their_lines(tmp_path):
    path = tmp_path / "events.jsonl"
    log = EventLog(path, limit=50_000)

    def write(thread):
        for i in range(200):
            log.write({"type": "log", "thread": thread, "i": i})

    threads = [threading.Thread(target=write, args=(t,)) for t in range(4)]
    seen, offset = [], 0
    for thread in threads:
        thread.start()
    while any(t.is_alive() for t in threads):
        new, offset = read_on(path, offset)
        seen += new
    new, offset = read_on(path, offset)
    seen += new
    for t in range(4):
        assert [e["i"] for e in seen if e["thread"] == t] == list(range(200))


def test_a_full_file_is_put_aside_and_offsets_go_on(tmp_path):
    path = tmp_path / "events.jsonl"
    log = EventLog(path, limit=1000)
    seen, offset, offsets = [], 0, []
    for i in range(100):
        log.write({"type": "log", "i": i})
        if i % 7 == 0:
            new, offset = read_on(path, offset)
            seen += new
            offsets.append(offset)
    seen += read_on(path, offset)[0]
    assert [e["i"] for e in seen] == list(range(100))
    assert offsets == sorted(set(offsets))
    assert path.stat().st_size <= 1000
    assert path.with_name("events.1.jsonl").stat().st_size <= 1000
    assert len(list(tmp_path.iterdir())) == 2


def test_a_reader_that_comes_late_goes_on_with_what_is_left(tmp_path):
    path = tmp_path / "events.jsonl"
    log = EventLog(path, limit=1000)
    for i in range(100):
        log.write({"type": "log", "i": i})
    seen, _ = read_on(path, 0)
    numbers = [e["i"] for e in seen]
    assert numbers == list(range(numbers[0], 100))
    assert 0 < numbers[0] < 90


def test_a_touch_is_a_heartbeat_without_an_event(tmp_path):
    path = tmp_path / "events.jsonl"
    log = EventLog(path)
    log.write({"type": "log"})
    before = path.read_bytes()
    os.utime(path, (1, 1))
    log.touch()
    assert path.stat().st_mtime > 1_000_000
    assert path.read_bytes() == before


def test_what_is_written_is_plain_json_lines(tmp_path):
    path = tmp_path / "events.jsonl"
    EventLog(path).write({"type": "sample", "step": "x", "rows": [{"a": "\u2028"}]})
    (line,) = path.read_text().splitlines()
    assert json.loads(line)["rows"] == [{"a": "\u2028"}]
