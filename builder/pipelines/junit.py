"""Outcomes of test cases as JUnit's XML, which CI systems show."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from builder.pipelines.run_test_case import Outcome

# What XML can't say, not even escaped.
_UNSAYABLE = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(suite: str, outcomes: Sequence[Outcome]) -> str:
    """One testsuite with a testcase for each outcome; failures carry the differences as text."""
    failures = sum(not outcome.passed for outcome in outcomes)
    about = {
        "name": suite,
        "tests": str(len(outcomes)),
        "failures": str(failures),
        "errors": "0",
        "skipped": "0",
        "time": f"{sum(outcome.seconds for outcome in outcomes):.3f}",
    }
    top = ElementTree.Element("testsuites")
    element = ElementTree.SubElement(top, "testsuite", about)
    for outcome in outcomes:
        about = {
            "classname": suite,
            "name": _sayable(outcome.name),
            "time": f"{outcome.seconds:.3f}",
        }
        case = ElementTree.SubElement(element, "testcase", about)
        if not outcome.passed:
            text = _sayable(outcome.as_text())
            failure = ElementTree.SubElement(case, "failure", {"message": text.splitlines()[0]})
            failure.text = text
    ElementTree.indent(top)
    return ElementTree.tostring(top, encoding="unicode", xml_declaration=True) + "\n"


def _sayable(text: str) -> str:
    return _UNSAYABLE.sub("\ufffd", text)
