"""Records written to topics by people: one to try something, or dead letters again."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from builder.connections import kafka
from builder.connections.kafka import Cluster, client_settings, trouble
from builder.connections.kafka_topic import settings_of
from builder.connections.records import Headers

# A batch of one record says this much beside its key, value and headers.
_AROUND = 200
# What no cluster takes; smaller ones name their limit themselves.
_MOST_BYTES = 64 * 1024**2


@dataclass(frozen=True)
class Outgoing:
    """A record to write. Without a `partition` it is where Kafka's own clients put its key."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    partition: int | None = None

    @property
    def size(self) -> int:
        """Bytes of it that count against a topic's limit."""
        named = sum(len(name) + len(value or b"") + 10 for name, value in self.headers)
        return len(self.key or b"") + len(self.value or b"") + named + _AROUND


@dataclass(frozen=True)
class Written:
    """Where a record stands now, or in `trouble` why it does not, as a sentence.

    `is_unsure` where nobody can say whether it arrived.
    """

    partition: int = -1
    offset: int = -1
    trouble: str = ""
    is_unsure: bool = False


def most_bytes(cluster: Cluster, topic: str) -> int:
    """How large a record of this topic may be. Raises Unreachable."""
    said = settings_of(cluster, topic) or {}
    return int(said.get("max_message_bytes", _MOST_BYTES))


def write_records(cluster: Cluster, records: Sequence[Outgoing]) -> list[Written]:
    """Write records in their order; what became of each. Raises Unreachable where none can be.

    Their topics must be there: to write to one that is not would make it in some clusters.
    """
    producer = Producer(
        {
            **client_settings(cluster),
            "enable.idempotence": True,
            # As Java's clients do, so that records of one key stay together and in order.
            "partitioner": "murmur2_random",
            "message.max.bytes": _MOST_BYTES,
            # The broker refuses a batch as a whole: what is too large shall refuse only itself.
            "batch.num.messages": 1,
            "message.timeout.ms": int(kafka.TIMEOUT * 2000),
        }
    )
    try:
        # Whoever asks for numbers before a broker is there waits half a second for the next try.
        producer.list_topics(timeout=kafka.TIMEOUT)
    except KafkaException as error:
        raise trouble(cluster, error) from None
    done: list[Written | None] = [None] * len(records)
    for number, record in enumerate(records):
        try:
            producer.produce(
                record.topic,
                record.value,
                record.key,
                headers=list(record.headers),
                on_delivery=partial(_note, done, number),
                partition=-1 if record.partition is None else record.partition,
            )
        except KafkaException as error:
            done[number] = _refused(error.args[0])
        producer.poll(0)
    producer.flush(kafka.TIMEOUT * 2 + 1)
    return [one or _refused(KafkaError(KafkaError._MSG_TIMED_OUT)) for one in done]


def _note(
    done: list[Written | None], number: int, error: KafkaError | None, message: Message
) -> None:
    if error is not None:
        done[number] = _refused(error)
    else:
        done[number] = Written(message.partition() or 0, message.offset() or 0)


def _refused(error: Any) -> Written:
    if error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
        return Written(trouble="It is larger than the topic takes.")
    if error.code() in (KafkaError._MSG_TIMED_OUT, KafkaError.REQUEST_TIMED_OUT):
        return Written(trouble="The cluster did not confirm it in time.", is_unsure=True)
    return Written(trouble=f"The cluster did not take it: {error.str()}.")
