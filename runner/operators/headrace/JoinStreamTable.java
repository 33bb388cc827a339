package headrace;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.StructType;

/**
 * Joins each row of a stream, once, with what a table holds for its key at that moment.
 *
 * <p>Inputs: the stream, the table. Options: {@code on} (pairs of columns), {@code kind} (inner or
 * left), those of {@link Table} and {@code left}: lane and version of the stream. Gives {@code
 * left} and {@code right}, each a side's whole row; changes of the table emit nothing. Kept per key
 * is the table's newest row, nothing once it has been deleted. A row meets what has arrived before
 * it, in either mode; of a micro-batch's rows that arrived at one moment, those of the table come
 * first.
 */
public final class JoinStreamTable extends Operator {
  private final StructType right;
  private final Table table;
  private final boolean inner;
  private final int keys;
  private final Sides sides;
  private transient Newest newest;

  private JoinStreamTable(Sides sides, Table table) {
    this.sides = sides;
    this.table = table;
    right = sides.right;
    inner = !sides.keepsLeft;
    keys = sides.keys;
  }

  public static Dataset<Row> apply(List<Dataset<Row>> inputs, String options) {
    JsonNode said = read(options);
    Sides sides = new Sides(inputs, said, said.path("left"), said);
    Table table = new Table(sides.right, said);
    return new JoinStreamTable(sides, table)
        .over(sides.rows(), sides.keys, TimeMode.None(), sides.joined());
  }

  @Override
  public void init(OutputMode output, TimeMode time) {
    newest = new Newest(value("newest", right));
  }

  @Override
  void sort(List<Row> rows) {
    sides.sort(rows, 1);
  }

  @Override
  List<Row> handle(Row key, Row row) {
    Row before = newest.get(key);
    if (!row.isNullAt(keys)) {
      return inner && before == null ? List.of() : one(row.getStruct(keys), before);
    }
    Row now = row.getStruct(keys + 1);
    if (before != null && table.identity.repeats(now, before)) return List.of();
    if (table.deletes(now)) newest.clear(key);
    else newest.update(key, now);
    return List.of();
  }
}
