package headrace;

import static org.apache.spark.sql.functions.col;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;

/**
 * What windows that depend on the rows have in common: aggregates by group and window.
 *
 * <p>Options: {@code group_by}, {@code time} (a column; rows without one are dropped), {@code
 * grace} (milliseconds), {@code results} ({@code [["name", "sql"], …]}), {@code emit} ({@code
 * updates} or {@code final}), {@code arrived}, {@code lane} and {@code version}. Out come {@code window}, the group, the
 * results, {@code _deleted} and {@code _version}.
 *
 * <p>The watermark is {@code grace} and the window's length behind the newest row, and moves
 * between batches only. A row at or before it is dropped, as what it could be in is closed.
 * What the watermark has passed is emitted where {@code emit} is {@code final}, and forgotten.
 *
 * <p>In real-time mode a row's changes leave before the next row is read. In micro-batch mode the
 * rows of a group are taken in the order in which they came, as real time takes them (by time where
 * that is not known), and each window that changed is emitted once.
 */
abstract class WindowOperator extends StatefulProcessor<Row, Row, Row> {
  private static final String TIME = "__headrace_time";
  private static final StructType WINDOW =
      new StructType()
          .add("start", DataTypes.TimestampType)
          .add("end", DataTypes.TimestampType);

  final boolean atOnce;
  private final Aggregates aggregates;
  private final int groups;
  private final boolean instants;
  private Arrival arrival;
  private transient Aggregates.Task task;

  WindowOperator(Dataset<Row> rows, JsonNode said) throws AnalysisException {
    atOnce = !"final".equals(said.get("emit").asText());
    aggregates = new Aggregates(rows, TIME, said.get("results"));
    groups = said.get("group_by").size();
    instants =
        Boolean.parseBoolean(
            rows.sparkSession().conf().get("spark.sql.datetime.java8API.enabled", "false"));
  }

  /** Returns the part of the state that holds the windows. */
  abstract Dataset<Row> state(SparkSession spark, JsonNode said);

  /** Returns the windows in one row of that part, of which the first column is the group. */
  abstract List<Row> remembered(Row state);

  /** A row of the group: its time in microseconds, and what {@link Aggregates} reads. */
  record Timed(long at, InternalRow row) {}

  /** Returns what changes by rows of one group, in the order in which they came. */
  abstract List<Row> handle(Row group, List<Timed> rows, long watermark);

  /** Emits and forgets what the watermark has passed, at a timer. */
  abstract List<Row> expire(Row group, long timer, long watermark);

  /** Returns the rows after this operator; {@code length} is how far a row reaches. */
  final Dataset<Row> over(Dataset<Row> rows, JsonNode said, long length) {
    return over(rows, said, length, time(said));
  }

  /** Returns the time of a row. */
  static Column time(JsonNode said) {
    return Operator.column(said.get("time").asText()).cast("timestamp");
  }

  /** The same with another column for the time, by which rows are late. */
  final Dataset<Row> over(Dataset<Row> rows, JsonNode said, long length, Column time) {
    // What aggregates read comes first, as their tasks expect.
    List<Column> selected = new ArrayList<>();
    selected.add(time.as(TIME));
    selected.addAll(aggregates.arguments());
    Group group = new Group(rows, said.get("group_by"), true);
    selected.addAll(group.selected);
    selected.addAll(Arrival.columns(said));
    Dataset<Row> ready =
        rows.select(selected.toArray(Column[]::new))
            .where(col(TIME).isNotNull())
            .withWatermark(TIME, said.get("grace").asLong() + length + " milliseconds");
    StructType rowType = ready.schema().asNullable();
    arrival = Arrival.ofColumns(rowType, said);
    StructType gives = new StructType().add("window", WINDOW);
    for (StructField field : group.given(rowType).fields()) gives = gives.add(field);
    for (StructField value : aggregates.values().fields()) gives = gives.add(value);
    gives = gives.add("_deleted", DataTypes.BooleanType).add("_version", DataTypes.LongType);
    Column[] key = group.key.toArray(Column[]::new);
    Dataset<Row> changes =
        Remembered.isAsked(said)
            ? Remembered.rows(
                state(rows.sparkSession(), said), row -> remembered(row).iterator(), gives)
            : ready
                .groupBy(key)
                .as(Encoders.row(ready.select(key).schema().asNullable()), Encoders.row(rowType))
                .transformWithState(
                    this, TimeMode.EventTime(), OutputMode.Update(), Encoders.row(gives));
    List<Column> given = new ArrayList<>(List.of(col("window")));
    given.addAll(group.given);
    given.addAll(aggregates.results(changes));
    given.add(col("_deleted"));
    given.add(col("_version"));
    return changes.select(given.toArray(Column[]::new));
  }

  @Override
  public final Iterator<Row> handleInputRows(Row group, Iterator<Row> rows, TimerValues timers) {
    long watermark = timers.getCurrentWatermarkInMs();
    List<Row> given = new ArrayList<>();
    rows.foreach(given::add);
    arrival.sort(given);
    List<Timed> timed = new ArrayList<>();
    for (Row one : given) {
      InternalRow row = task().read(one);
      long at = row.getLong(0);
      // Spark itself drops by the watermark of the batch before, when timers have not fired yet.
      if (Math.floorDiv(at, 1000L) > watermark) timed.add(new Timed(at, row.copy()));
    }
    if (!arrival.isKnown) timed.sort(Comparator.comparingLong(Timed::at));
    return Operator.scala(timed.isEmpty() ? List.of() : handle(group, timed, watermark));
  }

  @Override
  public final Iterator<Row> handleExpiredTimer(
      Row group, TimerValues timers, ExpiredTimerInfo timer) {
    return Operator.scala(
        expire(group, timer.getExpiryTimeInMs(), timers.getCurrentWatermarkInMs()));
  }

  /** Whether aggregates stay as large as they begin. */
  final boolean isSmall() {
    return aggregates.isSmall();
  }

  final Aggregates.Task task() {
    if (task == null) task = aggregates.task();
    return task;
  }

  final <K> MapState<K, byte[]> map(String name, Encoder<K> key) {
    return getHandle().getMapState(name, key, Encoders.BINARY(), TTLConfig.NONE());
  }

  /** Returns a row out: the window in microseconds, the group, and the aggregates' values. */
  final Row changed(Row group, long start, long end, Aggregates.Buffer buffer, boolean deleted) {
    Row values = task().values(buffer);
    Object[] all = new Object[groups + values.length() + 3];
    all[0] = RowFactory.create(timestamp(start), timestamp(end));
    for (int i = 0; i < groups; i++) all[i + 1] = group.get(i);
    for (int i = 0; i < values.length(); i++) all[groups + i + 1] = values.get(i);
    all[all.length - 2] = deleted;
    all[all.length - 1] = buffer.count() + (deleted ? 1 : 0);
    return RowFactory.create(all);
  }

  private Object timestamp(long micros) {
    return instants
        ? DateTimeUtils.microsToInstant(micros)
        : DateTimeUtils.toJavaTimestamp(micros);
  }
}
