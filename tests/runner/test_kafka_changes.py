"""Topics that change while a job reads them, or while it stands still."""

import uuid

from confluent_kafka.admin import AdminClient, NewPartitions

from tests.runner.scenario import long, make_topics, read_all, wait_until, write

pytestmark = long


def handed_on(read, written):
    """A topic handed on to another."""
    local = {"connection": "local"}
    source = {**local, "topics": [read], "format": "text"}
    return {
        "version": 1,
        "steps": [
            {"id": "lines", "type": "kafka_source", "config": source},
            {"id": "out", "type": "kafka_sink", "config": {**local, "topic": written}},
        ],
        "edges": [{"from": "lines", "to": "out"}],
    }


def test_partitions_that_are_added_are_read_and_a_topic_made_anew_is_told(broker, make_job):
    prefix = uuid.uuid4().hex[:8]
    lines, out = f"{prefix}-lines", f"{prefix}-out"
    make_topics(broker, [lines])
    job = make_job(handed_on(lines, out)).start().wait_for("running")

    def came(*expected):
        def check():
            found = sorted(row["value"] for row in read_all(broker, [out]))
            wanted = sorted(f'{{"value":"{value}"}}' for value in expected)
            return None if found == wanted else f"{found}, not {wanted}"

        return check

    write(broker, lines, ["a", "b"])
    wait_until(came("a", "b"), 30)
    admin = AdminClient({"bootstrap.servers": broker})
    for added in admin.create_partitions([NewPartitions(lines, 3)]).values():
        added.result()
    write(broker, lines, ["c"], partition=2)
    wait_until(came("a", "b", "c"), 60)
    assert job.state == "running"
    lag = lambda: job.of_type("metrics")[-1]["segments"]["out"]["lag"]  # noqa: E731
    wait_until(lambda: None if lag() == {f"{lines}-{n}": 0 for n in range(3)} else f"{lag()}", 60)
    job.stop()

    # Made anew while the job stands still: where it had come to, there is nothing any more.
    for gone in admin.delete_topics([lines]).values():
        gone.result()
    wait_until(lambda: "there" if lines in admin.list_topics(timeout=10).topics else None, 30)
    # Where no record was before, whose name this one would bear.
    make_topics(broker, [lines], partitions=4)
    write(broker, lines, ["d"], partition=3)
    ended = job.start().wait_for_end(150)
    assert (ended["code"], ended["state"], ended["permanent"]) == (65, "failed", True), ended
    assert "gone from Kafka" in ended["message"]
    # An answer that people choose: they know then that rows are missing.
    job.start(fresh=True).wait_for("running")
    wait_until(came("a", "b", "c", "d"), 60)
