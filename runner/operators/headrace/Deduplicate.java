package headrace;

import static org.apache.spark.sql.functions.unix_micros;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;

/**
 * Lets the first of equal rows pass and drops those within a time of it.
 *
 * <p>Options: {@code columns} (what makes rows equal), {@code time} (a column), {@code within}
 * (milliseconds), {@code arrived}, {@code lane} and {@code version} (columns that say when rows
 * came, as {@link Arrival} has it). A row passes unless one that passed is at most {@code within}
 * earlier or later; then it counts itself. One without a time always passes. Kept are the times of
 * rows that passed, until the watermark ({@code within} behind the newest row) is past them by
 * {@code within}. A row later than that is not lost: it passes, as what it may repeat is forgotten.
 * Rows are taken as they came, in a micro-batch by time where that is not known.
 */
public final class Deduplicate extends Operator {
  private static final StructType TIMES =
      new StructType().add("times", DataTypes.createArrayType(DataTypes.LongType));
  private final int keys;
  private final long within;
  private final Arrival arrival;
  private transient ValueState<Row> passed;

  private Deduplicate(int keys, long within, Arrival arrival) {
    this.keys = keys;
    this.within = within;
    this.arrival = arrival;
  }

  public static Dataset<Row> apply(List<Dataset<Row>> inputs, String options) {
    JsonNode said = read(options);
    Dataset<Row> rows = inputs.get(0);
    List<String> columns = names(said.get("columns"));
    int keys = columns.size();
    long within = said.get("within").asLong();
    Dataset<Row> timed =
        rows.select(
                keyed(
                    columns,
                    whole().as("row"),
                    column(said.get("time").asText()).cast("timestamp").as("time")))
            .withWatermark("time", within + " milliseconds")
            // As a number it is no event time any more, by which Spark would drop late rows.
            .withColumn("time", unix_micros(column("time")));
    StructType gives = rows.schema().asNullable();
    return new Deduplicate(keys, 1000 * within, Arrival.of(gives, said))
        .over(timed, keys, TimeMode.EventTime(), gives);
  }

  @Override
  public void init(OutputMode output, TimeMode time) {
    passed = value("passed", TIMES);
  }

  @Override
  void sort(List<Row> rows) {
    if (arrival.isKnown) arrival.sort(rows, row -> row.getStruct(keys));
    else rows.sort(Comparator.comparing(this::time));
  }

  private long time(Row row) {
    return row.isNullAt(keys + 1) ? Long.MIN_VALUE : row.getLong(keys + 1);
  }

  @Override
  List<Row> handle(Row key, Row row) {
    if (!row.isNullAt(keys + 1)) {
      long time = row.getLong(keys + 1);
      List<Long> times = new ArrayList<>(times());
      for (long other : times) {
        if (Math.abs(time - other) <= within) return List.of();
      }
      times.add(time);
      keep(times);
      getHandle().registerTimer(timer(time + within));
    }
    return List.of(row.getStruct(keys));
  }

  @Override
  public Iterator<Row> handleExpiredTimer(Row key, TimerValues timers, ExpiredTimerInfo expired) {
    List<Long> times = new ArrayList<>(times());
    times.removeIf(time -> timer(time + within) <= expired.getExpiryTimeInMs());
    keep(times);
    return scala(List.of());
  }

  private List<Long> times() {
    Row row = passed.get();
    return row == null ? List.of() : row.getList(0);
  }

  private void keep(List<Long> times) {
    if (times.isEmpty()) passed.clear();
    else passed.update(RowFactory.create((Object) times.toArray(Long[]::new)));
  }
}
