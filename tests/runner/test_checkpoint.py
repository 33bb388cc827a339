"""What a checkpoint's files say: files in, sentence out."""

import json

import pytest

from runner.checkpoint import described, newest_offsets, query_id, unfinished

BEGAN = {"sources/0/0": {"lines": {"0": 5, "1": 0}}}
FIRST = {**BEGAN, "offsets/0": {"lines": {"0": 9, "1": 3}}}
DONE = {**FIRST, "commits/0": {"nextBatchWatermarkMs": 0}}


@pytest.mark.parametrize(
    ("files", "newest", "sentence"),
    [
        ({}, {}, ""),
        (
            BEGAN,
            {"lines-0": 5, "lines-1": 0},
            "It was reading lines, partition 0, from offset 5 on; "
            "lines, partition 1, from offset 0 on.",
        ),
        (
            FIRST,
            {"lines-0": 9, "lines-1": 3},
            "It was reading lines, partition 0, offsets 5 to 8; "
            "lines, partition 1, offsets 0 to 2.",
        ),
        (
            DONE,
            {"lines-0": 9, "lines-1": 3},
            "It was reading lines, partition 0, from offset 9 on; "
            "lines, partition 1, from offset 3 on.",
        ),
        (
            {**DONE, "offsets/1": {"lines": {"0": 9, "1": 4}}},
            {"lines-0": 9, "lines-1": 4},
            "It was reading lines, partition 1, offset 3.",
        ),
        (
            {**DONE, "offsets/1": {"a": {str(n): 1 for n in range(5)}}},
            {f"a-{n}": 1 for n in range(5)},
            "It was reading a, partition 0, offset 0; a, partition 1, offset 0; "
            "a, partition 2, offset 0 and 2 more partitions.",
        ),
    ],
)
def test_where_a_query_was(tmp_path, files, newest, sentence):
    for name, said in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"v1\n{json.dumps(said)}\n")
    assert newest_offsets(tmp_path) == newest
    assert described(unfinished(tmp_path)) == sentence


def test_the_id_of_a_query(tmp_path):
    assert query_id(tmp_path) is None
    (tmp_path / "metadata").write_text('{"id":"c0ffee"}')
    assert query_id(tmp_path) == "c0ffee"
