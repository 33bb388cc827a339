"""The demo feed, into a real broker."""

import itertools
import json
import random
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from builder.local import demo_feed, process
from builder.local.kafka import start_kafka
from tests.local.observe import eventually, read_all


def test_page_views_are_json_with_a_few_troubles() -> None:
    records = list(itertools.islice(demo_feed.page_views(random.Random(1)), 970))
    now = datetime.now(UTC)
    views, broken = [], 0
    for record in records:
        try:
            views.append(json.loads(record))
        except json.JSONDecodeError:
            broken += 1
    assert broken == 10
    assert all(set(view) == {"user", "product", "at"} for view in views)
    assert 25 <= sum(view["product"] is None for view in views) <= 31
    assert all(view["at"].endswith("Z") for view in views)
    age = [(now - datetime.fromisoformat(view["at"])).total_seconds() for view in views]
    late = [seconds for seconds in age if seconds > 1.5]
    assert 45 <= len(late) <= 57
    assert max(late) < 20
    assert len(Counter(view["product"] for view in views)) == len(demo_feed.PRODUCTS) + 1


def test_the_feed_makes_its_topics_and_outlives_its_broker(tmp_path: Path) -> None:
    with start_kafka(tmp_path) as kafka:
        command = [sys.executable, "-m", "builder.local.demo_feed", kafka.url]
        feed = process.start(command, tmp_path / "feed.log")
        try:
            assert all(json.loads(view) for view in read_all(kafka.url, demo_feed.PAGE_VIEWS, 3))
            first = read_all(kafka.url, demo_feed.LINES, 2)
            assert [line.decode() in demo_feed.TEXT.splitlines() for line in first] == [True, True]
            admin = AdminClient({"bootstrap.servers": kafka.url})
            topics = admin.list_topics(timeout=10).topics
            resources = [
                ConfigResource(ResourceType.TOPIC, name) for name in ("lines", "page-views")
            ]
            for resource, answer in admin.describe_configs(resources).items():
                assert len(topics[resource.name].partitions) == 2
                assert answer.result(timeout=10)["retention.ms"].value == "3600000"
            before = ends(kafka.url, demo_feed.PAGE_VIEWS)
            kafka.stop()
            with start_kafka(tmp_path) as again:
                assert again.url == kafka.url
                assert eventually(lambda: ends(again.url, demo_feed.PAGE_VIEWS) > before, 60)
            assert feed.poll() is None
        finally:
            process.stop(feed)


def ends(servers: str, topic: str) -> int:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "ends"})
    partitions = range(demo_feed.PARTITIONS)
    found = [
        consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=20)
        for number in partitions
    ]
    consumer.close()
    return sum(end for _, end in found)
