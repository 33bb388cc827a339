from collections.abc import Iterator

import pytest

from builder.local.kafka import start_kafka
from builder.local.process import Server


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A real broker that all tests of this folder may write to."""
    with start_kafka(tmp_path_factory.mktemp("kafka")) as kafka:
        yield kafka
