package headrace;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What the operators share: from named inputs to rows of one key, one by one, in a sound order.
 *
 * <p>Each operator has a static {@code apply(inputs, options)}; {@code options} is a JSON object.
 * Two inputs are brought together by a tagged union before the state, which is the only side of it
 * where real-time mode allows one.
 *
 * <p>Spark makes a processor anew for every task of every batch, calls {@link #init} and then
 * {@link #handleInputRows}: in real-time mode once per row as it comes, with an iterator of that
 * row alone, and what is returned leaves before the next row is read; in micro-batch mode once per
 * key and batch, with all the key's rows in no promised order. So the rows of a call are sorted
 * (which in real-time mode does nothing) and handed over one by one. Event-time timers fire by a
 * watermark that moves between batches: in micro-batch mode after the rows, in real-time mode with
 * the first row that comes to their partition, or else at the batch's end. A query has one
 * watermark on each way through it: none may be set before or after an operator with event time;
 * for a step after one of the others it is set after that, as columns lose it on their way through.
 *
 * <p>State and keys are kept as rows, so that one class and one checkpoint serve both modes.
 */
abstract class Operator extends StatefulProcessor<Row, Row, Row> {
  /** How a value is written as JSON, to be told from all others and read back. */
  static final Map<String, String> WHOLE =
      Map.of("ignoreNullFields", "false", "timestampFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSSSS");

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Returns what comes out because of one row of a key. */
  abstract List<Row> handle(Row key, Row row);

  /** Puts the rows of one key and batch into the order in which they are to be handled. */
  abstract void sort(List<Row> rows);

  @Override
  public final Iterator<Row> handleInputRows(Row key, Iterator<Row> rows, TimerValues timers) {
    List<Row> sorted = new ArrayList<>();
    rows.foreach(sorted::add);
    if (sorted.size() > 1) sort(sorted);
    return CollectionConverters.asScala(sorted.iterator()).flatMap(row -> scala(handle(key, row)));
  }

  static JsonNode read(String options) {
    try {
      return JSON.readTree(options);
    } catch (JsonProcessingException wrong) {
      throw new IllegalArgumentException(wrong);
    }
  }

  /** Returns the texts of a JSON array, none where there is no array. */
  static List<String> names(JsonNode array) {
    List<String> names = new ArrayList<>();
    if (array != null) array.forEach(name -> names.add(name.asText()));
    return names;
  }

  /** Returns a column by its exact name, whatever characters are in it. */
  static Column column(String name) {
    return functions.col("`" + name.replace("`", "``") + "`");
  }

  /** Returns {@code key0}, {@code key1}… of {@code names}, then {@code more}. */
  static Column[] keyed(List<String> names, Column... more) {
    List<Column> columns = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) columns.add(key(names.get(i), i));
    columns.addAll(List.of(more));
    return columns.toArray(Column[]::new);
  }

  /** Returns a column of the key; as event time it would have Spark drop late rows. */
  static Column key(String name, int place) {
    return column(name).as("key" + place, Metadata.empty());
  }

  /** Returns all columns of the rows as one struct. */
  static Column whole() {
    return functions.struct(functions.col("*"));
  }

  /** Returns the rows after this operator; their first {@code keys} columns are the key. */
  final Dataset<Row> over(Dataset<Row> rows, int keys, TimeMode time, StructType gives) {
    Column[] columns = new Column[keys];
    for (int i = 0; i < keys; i++) {
      StructField field = rows.schema().apply(i);
      columns[i] = column(field.name());
      Column simple = simple(columns[i], field.dataType());
      if (simple != columns[i]) rows = rows.withColumn(field.name(), simple);
    }
    StructType key = rows.select(columns).schema().asNullable();
    return rows.groupBy(columns)
        .as(Encoders.row(key), Encoders.row(rows.schema().asNullable()))
        .transformWithState(this, time, OutputMode.Update(), Encoders.row(gives));
  }

  /** Returns a column for a key: as text what Spark can't keep there, or Java can't compare. */
  static Column simple(Column value, DataType type) {
    if (type instanceof BinaryType) return functions.base64(value);
    DataType plain = plain(type);
    if (plain == type) return value;
    return functions.to_json(value.cast(plain), WHOLE);
  }

  /** Returns the state of this name: one row per key. */
  final ValueState<Row> value(String name, StructType type) {
    return getHandle().getValueState(name, stored(type), TTLConfig.NONE());
  }

  /** Returns how rows of this type are kept; their columns may have any names. */
  static Encoder<Row> stored(StructType type) {
    return Encoders.row((StructType) plain(type));
  }

  /**
   * Returns the same type with its fields numbered: Spark writes the types of state and keys as
   * Avro, which knows only simple names. Rows are read by place, so they fit either.
   */
  private static DataType plain(DataType type) {
    if (type instanceof ArrayType array) {
      return DataTypes.createArrayType(plain(array.elementType()), array.containsNull());
    }
    if (type instanceof MapType map) {
      return DataTypes.createMapType(
          plain(map.keyType()), plain(map.valueType()), map.valueContainsNull());
    }
    if (type instanceof StructType struct) {
      StructType numbered = new StructType();
      for (StructField field : struct.fields()) {
        numbered = numbered.add("c" + numbered.length(), plain(field.dataType()));
      }
      return numbered;
    }
    return type;
  }

  /** Returns the timer, in milliseconds, for when a watermark has passed a time in microseconds. */
  static long timer(long micros) {
    return Math.floorDiv(micros, 1000) + 1;
  }

  static List<Row> one(Object... values) {
    return List.of(RowFactory.create(values));
  }

  static Iterator<Row> scala(List<Row> rows) {
    return CollectionConverters.asScala(rows.iterator());
  }
}
