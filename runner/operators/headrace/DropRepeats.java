package headrace;

import static org.apache.spark.sql.functions.struct;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.StructType;

/**
 * Lets a row pass once, though an at-least-once source may send it again after a crash.
 *
 * <p>Options: {@code key}, {@code lane}, {@code version}: columns. Kept per key and lane is the
 * version of the newest row, for ever; a row passes if its version is greater. In a micro-batch
 * rows are taken by version.
 */
public final class DropRepeats extends Operator {
  private final StructType versions;
  private final Identity identity;
  private final int keys;
  private transient ValueState<Row> newest;

  private DropRepeats(StructType versions, Identity identity, int keys) {
    this.versions = versions;
    this.identity = identity;
    this.keys = keys;
  }

  public static Dataset<Row> apply(List<Dataset<Row>> inputs, String options) {
    JsonNode said = read(options);
    Dataset<Row> rows = inputs.get(0);
    List<String> keys = new ArrayList<>(names(said.get("key")));
    keys.addAll(names(said.get("lane")));
    Column[] version = names(said.get("version")).stream().map(Operator::column).toArray(Column[]::new);
    StructType versions = rows.select(version).schema().asNullable();
    // Lanes are part of the key here.
    Identity identity = new Identity(versions, List.of(), List.of(versions.fieldNames()));
    return new DropRepeats(versions, identity, keys.size())
        .over(
            rows.select(keyed(keys, struct(version).as("version"), whole().as("row"))),
            keys.size(),
            TimeMode.None(),
            rows.schema().asNullable());
  }

  @Override
  public void init(OutputMode output, TimeMode time) {
    newest = value("newest", versions);
  }

  @Override
  void sort(List<Row> rows) {
    rows.sort(Comparator.comparing(row -> row.getStruct(keys), identity));
  }

  @Override
  List<Row> handle(Row key, Row row) {
    Row version = row.getStruct(keys);
    Row before = newest.get();
    if (before != null && identity.repeats(version, before)) return List.of();
    newest.update(version);
    return List.of(row.getStruct(keys + 1));
  }
}
