package headrace;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Joins two tables, each by its whole key, into a table.
 *
 * <p>Options: {@code on} (pairs of columns), {@code kind} (inner, left or full), {@code left} and
 * {@code right}, each those of {@link Table}. Whenever a side changes it gives the joined row as
 * {@code left} and {@code right}; where there was one and is none any more, the last one with
 * {@code _deleted}. Kept per key are both sides' newest rows, nothing once both are deleted.
 *
 * <p>{@code _version} grows with every change that a key sees, also with those that give no row:
 * in real-time mode a batch that runs again may see the two sides' changes in another order, and
 * must not end below what it gave before. It begins at (batch &lt;&lt; 32), above all that a key
 * which was deleted in an earlier batch has reached; for those deleted in this one it is
 * remembered. So a micro-batch that runs again gives the same versions, as its rows are handled
 * left before right and then by lane and version.
 */
public final class JoinTables extends Operator {
  private final StructType kept;
  private final Table left;
  private final Table right;
  private final boolean keepsLeft;
  private final boolean keepsRight;
  private final int keys;
  private final Sides sides;
  private transient ValueState<Row> state;
  private transient Map<Row, Long> deleted;

  private JoinTables(Sides sides, Table left, Table right) {
    this.left = left;
    this.right = right;
    kept = sides.joined().add("version", DataTypes.LongType);
    keepsLeft = sides.keepsLeft;
    keepsRight = sides.keepsRight;
    keys = sides.keys;
    this.sides = sides;
  }

  public static Dataset<Row> apply(List<Dataset<Row>> inputs, String options) {
    JsonNode said = read(options);
    Sides sides = new Sides(inputs, said, said.get("left"), said.get("right"));
    Table left = new Table(sides.left, said.get("left"));
    Table right = new Table(sides.right, said.get("right"));
    StructType gives =
        sides.joined().add("_deleted", DataTypes.BooleanType).add("_version", DataTypes.LongType);
    return new JoinTables(sides, left, right)
        .over(sides.rows(), sides.keys, TimeMode.None(), gives);
  }

  @Override
  public void init(OutputMode output, TimeMode time) {
    state = value("sides", kept);
    deleted = new HashMap<>();
  }

  @Override
  void sort(List<Row> rows) {
    sides.sort(rows, 0);
  }

  @Override
  List<Row> handle(Row key, Row row) {
    boolean isLeft = !row.isNullAt(keys);
    Table table = isLeft ? left : right;
    Row change = row.getStruct(isLeft ? keys : keys + 1);
    Row before = state.get();
    Row leftBefore = before == null ? null : before.getStruct(0);
    Row rightBefore = before == null ? null : before.getStruct(1);
    Row replaced = isLeft ? leftBefore : rightBefore;
    Row now = table.deletes(change) ? null : change;
    if (replaced == null ? now == null : table.identity.repeats(change, replaced)) return List.of();

    Row leftNow = isLeft ? now : leftBefore;
    Row rightNow = isLeft ? rightBefore : now;
    long version = before == null ? first(key) : before.getLong(2) + 1;
    if (leftNow == null && rightNow == null) {
      state.clear();
      deleted.put(key, version);
    } else {
      state.update(RowFactory.create(leftNow, rightNow, version));
    }
    if (key.anyNull()) {
      // The sides of such a key never meet: each is joined with nothing.
      if (isLeft) rightBefore = rightNow = null;
      else leftBefore = leftNow = null;
    }
    if (exists(leftNow, rightNow)) return one(leftNow, rightNow, false, version);
    if (exists(leftBefore, rightBefore)) return one(leftBefore, rightBefore, true, version);
    return List.of();
  }

  private boolean exists(Row left, Row right) {
    if (left == null) return right != null && keepsRight;
    return right != null || keepsLeft;
  }

  private long first(Row key) {
    Long last = deleted.get(key);
    return last == null ? getHandle().getQueryInfo().getBatchId() << 32 : last + 1;
  }
}
