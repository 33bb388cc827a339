package headrace;

import static org.apache.spark.sql.functions.lit;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
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
  private final List<Arrival> arrivals;

  /**
   * Reads {@code on}, pairs of columns, {@code kind}: inner, left or full, and {@code arrived}: the
   * column of either input, if it has such, that says when a row arrived; and of each side, where
   * they are given, {@code lane} and {@code version}.
   */
  Sides(List<Dataset<Row>> inputs, JsonNode options, JsonNode ofLeft, JsonNode ofRight) {
    this.inputs = inputs;
    on = options.get("on");
    keys = on.size();
    left = inputs.get(0).schema().asNullable();
    right = inputs.get(1).schema().asNullable();
    String kind = options.get("kind").asText();
    keepsLeft = !kind.equals("inner");
    keepsRight = kind.equals("full");
    String arrived = options.path("arrived").asText();
    arrivals = List.of(arrival(left, arrived, ofLeft), arrival(right, arrived, ofRight));
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

  /** Puts tagged rows into the order in which they came; of one moment, those of a side first. */
  void sort(List<Row> rows, int first) {
    List<Arrival.Came> came = new ArrayList<>(of(rows, first));
    came.addAll(of(rows, 1 - first));
    came.sort(Comparator.comparingLong(Arrival.Came::time));
    rows.clear();
    for (Arrival.Came one : came) rows.add(one.row());
  }

  private List<Arrival.Came> of(List<Row> rows, int side) {
    List<Row> tagged = rows.stream().filter(row -> !row.isNullAt(keys + side)).toList();
    return arrivals.get(side).of(tagged, row -> row.getStruct(keys + side));
  }

  private static Arrival arrival(StructType type, String arrived, JsonNode said) {
    return new Arrival(
        type, arrived, Operator.names(said.get("lane")), Operator.names(said.get("version")));
  }

  /** Returns the type of joined rows. */
  StructType joined() {
    return new StructType().add("left", left).add("right", right);
  }
}
