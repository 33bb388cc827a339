package headrace;

import java.io.Serializable;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.UnaryOperator;
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

  private final Identity identity;
  private final int arrived;

  /**
   * Reads rows of a type, of which {@code arrived} is the column of times, if there is one; {@code
   * lane} and {@code version} may be empty.
   */
  Arrival(StructType type, String arrived, List<String> lane, List<String> version) {
    identity = new Identity(type, lane, version);
    this.arrived = List.of(type.fieldNames()).indexOf(arrived);
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
