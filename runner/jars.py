"""The jars that PySpark does not carry: `make up` resolves what `runner/ivy.xml` names and
compiles `runner/operators`."""

import sys
from pathlib import Path

FOLDER = Path(sys.prefix) / "jars"


def spark_jars() -> list[Path]:
    """Return the jars every Spark session of Headrace needs: the Kafka connector and the operators.

    Raises FileNotFoundError saying what to do where there are none.
    """
    return _jars("spark")


def broker_jars() -> list[Path]:
    """Return the jars of the embedded Kafka broker; raises FileNotFoundError likewise."""
    return _jars("broker")


def _jars(configuration: str) -> list[Path]:
    jars = sorted((FOLDER / configuration).glob("*.jar"))
    if not jars:
        raise FileNotFoundError(f"No jars in {FOLDER / configuration}. Run `make up`.")
    return jars
