package headrace;

import static org.apache.spark.sql.functions.lit;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * The two inputs of a join as one: first the columns of the key, then {@code left} and
 * {@code right}, of which one holds the whole row and the other is null.
 */
final class Sides implements Serializable {
  final int keys;
  final StructType left;
  final StructType right;

  /** Which sides' rows come out where there is none of the other side's. */
  final boolean keepsLeft;

  final boolean keepsRight;
  private final transient List<Dataset<Row>> inputs;
  private final transient JsonNode on;
  private final int[] arrived;

  /**
   * Reads {@code on}, pairs of columns, {@code kind}: inner, left or full, and {@code arrived}: the
   * column of either input, if it has such, that says when a row arrived.
   */
  Sides(List<Dataset<Row>> inputs, JsonNode options) {
    this.inputs = inputs;
    on = options.get("on");
    keys = on.size();
    left = inputs.get(0).schema().asNullable();
    right = inputs.get(1).schema().asNullable();
    String kind = options.get("kind").asText();
    keepsLeft = !kind.equals("inner");
    keepsRight = kind.equals("full");
    arrived = new int[] {place(left, options), place(right, options)};
  }

  /** Returns the tagged union of both inputs. */
  Dataset<Row> rows() {
    return tagged(0).union(tagged(1));
  }

  /** Returns the rows of one input, with columns of theirs at the end. */
  Dataset<Row> tagged(int side, Column... more) {
    Dataset<Row> rows = inputs.get(side);
    List<Column> columns = new ArrayList<>();
    for (int i = 0; i < keys; i++) {
      String name = on.get(i).get(side).asText();
      // Rows without a key match nothing, so those that can't come out alone needn't come in.
      if (!(side == 0 ? keepsLeft : keepsRight)) {
        rows = rows.where(Operator.column(name).isNotNull());
      }
      columns.add(Operator.key(name, i));
    }
    Column row = Operator.whole();
    columns.add((side == 0 ? row : lit(null).cast(left)).as("left"));
    columns.add((side == 1 ? row : lit(null).cast(right)).as("right"));
    columns.addAll(List.of(more));
    return rows.select(columns.toArray(Column[]::new));
  }

  /** Orders tagged rows by when they arrived, those first of which that is not known. */
  int compareArrival(Row a, Row b) {
    Object first = arrival(a);
    Object second = arrival(b);
    if (first == null || second == null) {
      return first == second ? 0 : first == null ? -1 : 1;
    }
    return ((Timestamp) first).compareTo((Timestamp) second);
  }

  private Object arrival(Row row) {
    int side = row.isNullAt(keys) ? 1 : 0;
    return arrived[side] < 0 ? null : row.getStruct(keys + side).get(arrived[side]);
  }

  private static int place(StructType type, JsonNode options) {
    String name = options.hasNonNull("arrived") ? options.get("arrived").asText() : "";
    return List.of(type.fieldNames()).contains(name) ? type.fieldIndex(name) : -1;
  }

  /** Returns the type of joined rows. */
  StructType joined() {
    return new StructType().add("left", left).add("right", right);
  }
}
