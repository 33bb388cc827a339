package headrace;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.types.StructType;

/**
 * When rows came: those of a lane by their version, lanes beside each other by when their rows
 * arrived.
 *
 * <p>Who writes a record says its time, so within a lane it may go back. Lanes are taken as Kafka
 * Streams takes partitions: next comes the row of the lane whose next row arrived first.
 */
final class Arrival implements Serializable {
  /** A row, and when it came in microseconds: no sooner than what came before it in its lane. */
  record Came(long time, Row row) {}

  private static final String CAME = "__headrace_came_";

  /** Whether anything is known of when rows came. */
  final boolean isKnown;

  private final Identity identity;
  private final int arrived;

  /**
   * Reads rows of a type, of which {@code arrived} is the column of times, if there is one; {@code
   * lane} and {@code version} may be empty.
   */
  Arrival(StructType type, String arrived, List<String> lane, List<String> version) {
    identity = new Identity(type, lane, version);
    this.arrived = List.of(type.fieldNames()).indexOf(arrived);
    isKnown = this.arrived >= 0 || !version.isEmpty();
  }

  /** Reads rows by the columns that {@code arrived}, {@code lane} and {@code version} name. */
  static Arrival of(StructType type, JsonNode said) {
    return of(type, said, "");
  }

  /** The same of rows that have those columns as {@link #columns} selects them. */
  static Arrival ofColumns(StructType type, JsonNode said) {
    return of(type, said, CAME);
  }

  /** Returns the columns that say when rows came, by names that nobody else has. */
  static List<Column> columns(JsonNode said) {
    List<String> names = new ArrayList<>();
    if (said.hasNonNull("arrived")) names.add(said.get("arrived").asText());
    names.addAll(Operator.names(said.get("lane")));
    names.addAll(Operator.names(said.get("version")));
    return names.stream().map(name -> Operator.column(name).as(CAME + name)).toList();
  }

  private static Arrival of(StructType type, JsonNode said, String prefix) {
    return new Arrival(
        type,
        prefix + said.path("arrived").asText(),
        Operator.names(said.get("lane")).stream().map(prefix::concat).toList(),
        Operator.names(said.get("version")).stream().map(prefix::concat).toList());
  }

  /** Puts rows into the order in which they came; as they are where that is not known. */
  void sort(List<Row> rows) {
    sort(rows, row -> row);
  }

  /** The same where only {@code inner} of a row is read. */
  void sort(List<Row> rows, UnaryOperator<Row> inner) {
    if (rows.size() < 2) return;
    List<Came> came = of(rows, inner);
    came.sort(Comparator.comparingLong(Came::time));
    rows.clear();
    for (Came one : came) rows.add(one.row());
  }

  /** Returns rows with when they came, lane by lane; {@code inner} is what of a row is read. */
  List<Came> of(List<Row> rows, UnaryOperator<Row> inner) {
    List<Row> sorted = new ArrayList<>(rows);
    if (rows.size() > 1) sorted.sort(Comparator.comparing(inner, identity));
    List<Came> came = new ArrayList<>();
    Row before = null;
    for (Row row : sorted) {
      Row now = inner.apply(row);
      long time = time(now);
      if (before != null && identity.follows(now, before)) {
        time = Math.max(time, came.get(came.size() - 1).time());
      }
      came.add(new Came(time, row));
      before = now;
    }
    return came;
  }

  private long time(Row row) {
    if (arrived < 0 || row.isNullAt(arrived)) return Long.MIN_VALUE;
    return row.get(arrived) instanceof Instant instant
        ? DateTimeUtils.instantToMicros(instant)
        : DateTimeUtils.fromJavaTimestamp((Timestamp) row.get(arrived));
  }
}
