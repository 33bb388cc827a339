"""Two small topics that always move, so that a first pipeline has something to read."""

import itertools
import json
import random
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

PARTITIONS = 2
RETENTION_MS = 60 * 60 * 1000
PAGE_VIEWS = "page-views"
LINES = "lines"

USERS = ["ada", "bao", "chidi", "dana", "emil", "fatou", "goran", "hana"]
PRODUCTS = ["kettle", "lamp", "chair", "clock", "basket", "scarf"]

TEXT = """\
The river comes down from the hills and the miller waits for the river
A gate in the bank lets the water out and the headrace carries it to the wheel
The wheel turns because the water falls and the stone turns because the wheel turns
Corn goes in at the top of the mill and flour comes out at the foot of the stone
When the rain is long the water is high and the wheel runs fast
When the summer is dry the water is low and the miller counts the drops
The water does not ask what it grinds and the wheel does not ask where the water goes
Below the mill the tailrace takes the water back to the river
The river goes on to the sea and the rain brings it back to the hills
"""


def page_views(chance: random.Random) -> Iterator[str]:
    """Yield one record after another, forever: JSON, and rarely something that is not."""
    for number in itertools.count(1):
        late = chance.uniform(2, 12) if number % 17 == 0 else 0.0
        at = datetime.now(UTC) - timedelta(seconds=late)
        view = {
            "user": chance.choice(USERS),
            # The first products are looked at more than the last.
            "product": PRODUCTS[int(len(PRODUCTS) * chance.random() ** 2)],
            "at": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        if number % 31 == 0:
            view["product"] = None  # type: ignore[assignment]
        record = json.dumps(view)
        yield record[: len(record) // 2] if number % 97 == 0 else record


def lines() -> Iterator[str]:
    """Yield the lines of a small text, over and over."""
    return itertools.cycle(TEXT.splitlines())


def make_topics(admin: AdminClient) -> None:
    """Make the two topics; that they stand already is no error. Raises KafkaException."""
    topics = [
        NewTopic(name, num_partitions=PARTITIONS, config={"retention.ms": str(RETENTION_MS)})
        for name in (PAGE_VIEWS, LINES)
    ]
    for made in admin.create_topics(topics).values():
        try:
            made.result(timeout=30)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise


def feed(servers: str) -> None:
    """Feed both topics at a gentle rate until the process ends; waits out a broker that is away."""
    admin = AdminClient({"bootstrap.servers": servers})
    while True:
        try:
            make_topics(admin)
            break
        except KafkaException as error:
            print(f"The topics can't be made yet: {error}", flush=True)
            time.sleep(2)
    # What a broker missed for longer than this is dropped: a demonstration is about now.
    producer = Producer({"bootstrap.servers": servers, "message.timeout.ms": 10_000})
    views, text = page_views(random.Random()), lines()
    for tick in itertools.count():
        produce(producer, PAGE_VIEWS, next(views))
        if tick % 2:
            produce(producer, LINES, next(text))
        producer.poll(0)
        time.sleep(0.5)


def produce(producer: Producer, topic: str, record: str) -> None:
    """Send one record; a full queue (the broker is away) drops it."""
    try:
        producer.produce(topic, value=record)
    except BufferError:
        producer.poll(1)


if __name__ == "__main__":
    feed(sys.argv[1])
