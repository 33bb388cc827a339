import java.time.Duration;
import java.time.Instant;
import java.util.Properties;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;

/**
 * The benchmark's workloads in Kafka Streams, each update written at once: no caching, no linger.
 * Arguments: workload, guarantee, bootstrap servers, topics of records, table and outputs, folder.
 */
public final class Jobs {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Serde<String> TEXT = Serdes.String();
    private static final Serde<JsonNode> NODE = Serdes.serdeFrom(
        (topic, node) -> write(node), (topic, bytes) -> read(bytes));

    public static void main(String[] words) {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, JsonNode> records = builder.stream(words[3], Consumed.with(TEXT, NODE));
        KStream<String, JsonNode> outputs = switch (words[0]) {
            case "filter" -> records.filter((key, row) -> !row.get("kind").asText().equals("noise"));
            case "count" -> count(records);
            case "hopping" -> hopping(records);
            case "join" -> records.join(
                builder.table(words[4], Consumed.with(TEXT, NODE)),
                (row, found) -> ((ObjectNode) row).<ObjectNode>set("name", found.get("name")));
            default -> throw new IllegalArgumentException(words[0]);
        };
        outputs.to(words[5], Produced.with(TEXT, NODE));

        KafkaStreams streams = new KafkaStreams(builder.build(), settings(words));
        streams.setStateListener((now, before) -> {
            if (now == KafkaStreams.State.RUNNING) {
                System.out.println("ready");
            }
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(Duration.ofSeconds(5))));
        streams.start();
    }

    private static KStream<String, JsonNode> count(KStream<String, JsonNode> records) {
        return records.groupByKey().count(Materialized.with(TEXT, Serdes.Long())).toStream()
            .mapValues((key, count) -> JSON.createObjectNode().put("k", key).put("count", count));
    }

    private static KStream<String, JsonNode> hopping(KStream<String, JsonNode> records) {
        TimeWindows windows = TimeWindows
            .ofSizeAndGrace(Duration.ofSeconds(10), Duration.ofMinutes(10))
            .advanceBy(Duration.ofSeconds(5));
        return records.groupByKey().windowedBy(windows)
            .count(Materialized.with(TEXT, Serdes.Long())).toStream()
            .map((key, count) -> {
                ObjectNode row = named(key);
                String name = row.toString();
                return KeyValue.pair(name, row.put("count", count));
            });
    }

    private static ObjectNode named(Windowed<String> key) {
        ObjectNode row = JSON.createObjectNode();
        row.putObject("window")
            .put("start", Instant.ofEpochMilli(key.window().start()).toString())
            .put("end", Instant.ofEpochMilli(key.window().end()).toString());
        return row.put("k", key.key());
    }

    private static Properties settings(String[] words) {
        Properties set = new Properties();
        set.put(StreamsConfig.APPLICATION_ID_CONFIG, words[5]);
        set.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, words[1]);
        set.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, words[2]);
        set.put(StreamsConfig.STATE_DIR_CONFIG, words[6]);
        set.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        // One for each partition, as Spark has a task for each.
        set.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 2);
        set.put(StreamsConfig.producerPrefix(ProducerConfig.LINGER_MS_CONFIG), 0);
        // While others take their turn it stands still, and is to find its partitions again.
        set.put(StreamsConfig.consumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG), 600_000);
        set.put(StreamsConfig.consumerPrefix(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG), 600_000);
        set.put(StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
        return set;
    }

    private static byte[] write(JsonNode node) {
        try {
            return node == null ? null : JSON.writeValueAsBytes(node);
        } catch (java.io.IOException error) {
            throw new SerializationException(error);
        }
    }

    private static JsonNode read(byte[] bytes) {
        try {
            return bytes == null ? null : JSON.readTree(bytes);
        } catch (java.io.IOException error) {
            throw new SerializationException(error);
        }
    }
}
