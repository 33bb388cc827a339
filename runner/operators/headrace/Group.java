package headrace;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Columns that rows are grouped by, which come out again under their names; without any, all rows
 * are one group.
 *
 * <p>In between they have names and fields that Spark can write as Avro, as it does with the types
 * of state, and none is an event time, by which Spark would drop late rows.
 */
final class Group {
  private static final String KEY = "__headrace_key_";

  /** What to select before the operator. */
  final List<Column> selected = new ArrayList<>();

  /** What to group by, then. */
  final List<Column> key = new ArrayList<>();

  /** What to select after the operator, which gives the key's columns. */
  final List<Column> given = new ArrayList<>();

  /** How many columns of the key come out. */
  final int size;

  /**
   * Groups {@code rows} by columns of these names; {@code hasTimers} says that the operator sets
   * timers. Spark then reads the key's type anew in each task, where it has lost how arrays are
   * made (the function of its UnresolvedMapObjects is transient), so these are kept as JSON.
   */
  Group(Dataset<Row> rows, JsonNode names, boolean hasTimers) {
    size = names.size();
    for (String name : Operator.names(names)) {
      Column column = Operator.column(name);
      StructType type = rows.select(column).schema();
      DataType plain = Operator.stored(type).schema().apply(0).dataType();
      String place = KEY + key.size();
      Column kept = column.cast(plain);
      Column back = Operator.column(place);
      if (hasTimers && plain.existsRecursively(part -> part instanceof ArrayType)) {
        kept = functions.to_json(kept, Operator.WHOLE);
        back = functions.from_json(back, plain, Operator.WHOLE);
      }
      selected.add(kept.as(place, Metadata.empty()));
      key.add(Operator.column(place));
      given.add(back.cast(type.apply(0).dataType()).as(name));
    }
    if (size == 0) {
      selected.add(functions.lit(0).as(KEY));
      key.add(Operator.column(KEY));
    }
  }

  /** Returns the key's columns as they come out, of the type of selected rows. */
  StructType given(StructType selected) {
    StructType type = new StructType();
    for (StructField field : selected.fields()) {
      if (field.name().startsWith(KEY) && type.length() < size) type = type.add(field);
    }
    return type;
  }
}
