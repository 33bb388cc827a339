package headrace;

import java.io.Serializable;
import java.math.BigDecimal;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * What tells a row from its repeat: the lane it came by and its version there.
 *
 * <p>Within one lane and key versions only grow, column by column as numbers. A row is a repeat
 * where its lane is the newest row's and its version is not greater: an at-least-once source has
 * sent it again. Without version, or where one is null, nothing counts as a repeat.
 */
final class Identity implements Comparator<Row>, Serializable {
  private final int[] lane;
  private final int[] version;

  Identity(StructType type, List<String> lane, List<String> version) {
    this.lane = lane.stream().mapToInt(type::fieldIndex).toArray();
    this.version = version.stream().mapToInt(type::fieldIndex).toArray();
  }

  /** Orders by lane, then by version. */
  @Override
  public int compare(Row a, Row b) {
    int lanes = compare(a, b, lane);
    return lanes != 0 ? lanes : compare(a, b, version);
  }

  boolean repeats(Row row, Row newest) {
    return areOfOneLane(row, newest) && compare(row, newest, version) <= 0;
  }

  /** Whether a row is known to have come by the lane of another, and not before it. */
  boolean follows(Row row, Row other) {
    return areOfOneLane(row, other) && compare(row, other, version) >= 0;
  }

  private boolean areOfOneLane(Row a, Row b) {
    if (version.length == 0 || compare(a, b, lane) != 0) return false;
    for (int place : version) {
      if (a.isNullAt(place) || b.isNullAt(place)) return false;
    }
    return true;
  }

  private static int compare(Row a, Row b, int[] places) {
    for (int place : places) {
      int result = compareValues(a.get(place), b.get(place));
      if (result != 0) return result;
    }
    return 0;
  }

  private static int compareValues(Object a, Object b) {
    if (a == null || b == null) return a == b ? 0 : a == null ? -1 : 1;
    if (a instanceof Long || a instanceof Integer || a instanceof Short || a instanceof Byte) {
      return Long.compare(((Number) a).longValue(), ((Number) b).longValue());
    }
    if (a instanceof Number) {
      return new BigDecimal(a.toString()).compareTo(new BigDecimal(b.toString()));
    }
    return a.toString().compareTo(b.toString());
  }
}
