"""Which values are not shown: row in, row out."""

import pytest

from runner.mask import NotKnown, masked, masked_text, unmasked
from runner.samples import Samples


@pytest.mark.parametrize(
    ("names", "row", "shown"),
    [
        ([], {"email": "a@b"}, {"email": "a@b"}),
        (["email"], {"email": "a@b", "n": 1}, {"email": "•••", "n": 1}),
        (["E*"], {"email": 5, "emails": ["a"]}, {"email": "•••", "emails": "•••"}),
        (["E*"], {"n": {"Else": {}}}, {"n": {"Else": "•••"}}),
        (["email"], {"email": None, "my_email": "x"}, {"email": None, "my_email": "x"}),
        (["id"], {"u": [{"id": 7}, {"n": 1}]}, {"u": [{"id": "•••"}, {"n": 1}]}),
        (["[ab]c"], {"ac": 1, "cc": 2}, {"ac": "•••", "cc": 2}),
        (["id"], "id", "id"),
    ],
)  # fmt: skip
def test_rows(names, row, shown):
    assert masked(row, names) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"email": "ä@b", "n": 1.50}', '{"email": "•••", "n": 1.5}'),
        ('{"n": 1.50}', '{"n": 1.50}'),
        ("email=a@b", "email=a@b"),
        ('{"email": "a@b", oops', '{"email": "•••", oops'),
        ('{"email": "a@', '{"email": "•••"'),
        ('{"EMAIL": {"a": "b", "c": "d"} oops', '{"EMAIL": "•••"'),
        ('{oops": 1, "u": {"email":7,"n":"x"', '{oops": 1, "u": {"email":"•••","n":"x"'),
        ('"a":[' * 30_000, '"a":[' * 30_000),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_texts(text, shown):
    assert masked_text(text, ["email"]) == shown


@pytest.mark.parametrize(
    ("edited", "original", "whole"),
    [
        ({"email": "•••", "n": 1}, {"email": "a@b", "n": "x"}, {"email": "a@b", "n": 1}),
        ({"email": "new"}, {"email": "a@b"}, {"email": "new"}),
        ({"u": [{"email": "•••"}]}, {"u": [{"email": "a@b"}]}, {"u": [{"email": "a@b"}]}),
        ({"n": "•••"}, {}, {"n": "•••"}),
    ],
)
def test_what_was_masked_stays_when_the_rest_is_edited(edited, original, whole):
    assert unmasked(edited, original, ["email"]) == whole


@pytest.mark.parametrize("original", [None, {}, {"u": []}, "text"])
def test_what_nobody_knows_cannot_stay(original):
    with pytest.raises(NotKnown, match="email"):
        unmasked({"u": [{"email": "•••"}]}, original, ["email"])


def test_live_rows_leave_the_job_masked():
    samples = Samples(["*mail"])
    samples.add("seen", {"user": "ada", "EMail": "a@b"})
    (event,) = samples.events()
    assert event["rows"] == [{"user": "ada", "EMail": "•••"}]
