package headrace;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.encoders.RowEncoder;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Records that Python gives: the columns of Spark's Kafka source, and which source they are for.
 *
 * <p>Read from a text here, they cost no expression in the plan of each batch.
 */
public final class Given {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final StructType RECORD =
      StructType.fromDDL(
          "source string, key binary, value binary, topic string, partition int, offset bigint, "
              + "timestamp timestamp, headers array<struct<key:string,value:binary>>");

  private Given() {}

  /** Returns what makes rows of Spark's of these records. */
  public static Encoder<Row> encoder() {
    // Its lenient kind takes an Instant, which, other than a Timestamp, knows one calendar only.
    return RowEncoder.encoderFor(RECORD, true);
  }

  /** Returns the records of a JSON array of objects. */
  public static List<Row> records(String json) throws JsonProcessingException {
    List<Row> rows = new ArrayList<>();
    for (JsonNode record : JSON.readTree(json)) {
      List<Row> headers = new ArrayList<>();
      for (JsonNode header : record.get("headers")) {
        headers.add(RowFactory.create(header.get("key").asText(), bytes(header.get("value"))));
      }
      rows.add(
          RowFactory.create(
              record.get("source").asText(),
              bytes(record.get("key")),
              bytes(record.get("value")),
              record.get("topic").asText(),
              record.get("partition").asInt(),
              record.get("offset").asLong(),
              OffsetDateTime.parse(record.get("timestamp").asText()).toInstant(),
              CollectionConverters.asScala(headers)));
    }
    return rows;
  }

  private static byte[] bytes(JsonNode text) {
    return text.isNull() ? null : text.asText().getBytes(StandardCharsets.UTF_8);
  }
}
