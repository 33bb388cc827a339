package headrace;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.timestamp_micros;
import static org.apache.spark.sql.functions.unix_micros;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * Joins two streams where the right row's time is within [left − before, left + after].
 *
 * <p>Options: {@code on} (pairs of columns), {@code kind} (inner, left or full), {@code before},
 * {@code after} and {@code grace} (milliseconds), {@code left_time} and {@code right_time}
 * (columns). Gives {@code left}, {@code right} and {@code _timestamp}, the greater of their times.
 * Matches come out at once, in both modes. A row of an outer side that has met none comes out
 * once, alone: at once where it lacks time or key, else when the watermark says that none can
 * come any more. That is the slower input's, {@code grace} behind its newest row, and moves
 * between batches. A row later than that is not lost: it meets what is kept, or comes out alone.
 *
 * <p>Kept are each side's rows until nothing can match them; one timer per key, for the earliest
 * of them. Each row is compared with all kept rows of its key's other side.
 */
public final class JoinStreams extends Operator {
  /** What the rows of one side are kept by: rows may have the same time. */
  private static final StructType PLACE =
      new StructType().add("time", DataTypes.LongType).add("number", DataTypes.LongType);

  private static final Comparator<Tuple2<Row, Row>> BY_PLACE =
      Comparator.<Tuple2<Row, Row>>comparingLong(entry -> entry._1().getLong(0))
          .thenComparingLong(entry -> entry._1().getLong(1));

  /** Kept per key: its timer and the number of its last row. */
  private static final StructType PROGRESS =
      new StructType().add("timer", DataTypes.LongType).add("number", DataTypes.LongType);

  private final int keys;
  private final Side left;
  private final Side right;
  private transient ValueState<Row> progress;

  private JoinStreams(Sides sides, long before, long after) {
    keys = sides.keys;
    left = new Side(sides.left, true, sides.keepsLeft, -before, after);
    right = new Side(sides.right, false, sides.keepsRight, -after, before);
  }

  public static Dataset<Row> apply(List<Dataset<Row>> inputs, String options) {
    JsonNode said = read(options);
    Sides sides = new Sides(inputs, said, said, said);
    String grace = said.get("grace").asLong() + " milliseconds";
    Dataset<Row> left = timed(sides.tagged(0, time(said, "left_time")), sides.keepsLeft, grace);
    Dataset<Row> right = timed(sides.tagged(1, time(said, "right_time")), sides.keepsRight, grace);
    long before = 1000 * said.get("before").asLong();
    long after = 1000 * said.get("after").asLong();
    return new JoinStreams(sides, before, after)
        .over(
            // As a number it is no event time any more, by which Spark would drop late rows.
            left.union(right).withColumn("time", unix_micros(col("time"))),
            sides.keys,
            TimeMode.EventTime(),
            sides.joined().add("time", DataTypes.LongType))
        .select(col("left"), col("right"), timestamp_micros(col("time")).as("_timestamp"));
  }

  private static Column time(JsonNode options, String name) {
    return column(options.get(name).asText()).cast("timestamp").as("time");
  }

  private static Dataset<Row> timed(Dataset<Row> rows, boolean kept, String grace) {
    return (kept ? rows : rows.where(col("time").isNotNull())).withWatermark("time", grace);
  }

  @Override
  public void init(OutputMode output, TimeMode time) {
    progress = value("progress", PROGRESS);
    for (Side side : List.of(left, right)) {
      side.rows =
          getHandle()
              .getMapState(
                  side.isLeft ? "left" : "right",
                  stored(PLACE),
                  stored(side.kept),
                  TTLConfig.NONE());
    }
  }

  @Override
  void sort(List<Row> rows) {
    rows.sort(
        Comparator.comparing(row -> row.isNullAt(keys + 2) ? Long.MIN_VALUE : row.getLong(keys + 2)));
  }

  @Override
  List<Row> handle(Row key, Row input) {
    Side own = input.isNullAt(keys) ? right : left;
    Side other = own == left ? right : left;
    Row row = input.getStruct(own == left ? keys : keys + 1);
    if (key.anyNull() || input.isNullAt(keys + 2)) {
      return own.outer ? List.of(own.joined(row, null, input.get(keys + 2))) : List.of();
    }
    long time = input.getLong(keys + 2);
    List<Tuple2<Row, Row>> matches = new ArrayList<>();
    Iterator<Tuple2<Row, Row>> kept = other.rows.iterator();
    while (kept.hasNext()) {
      Tuple2<Row, Row> candidate = kept.next();
      long away = candidate._1().getLong(0) - time;
      if (own.from <= away && away <= own.to) matches.add(candidate);
    }
    matches.sort(BY_PLACE);
    List<Row> joined = new ArrayList<>();
    for (Tuple2<Row, Row> match : matches) {
      Row found = match._2().getStruct(0);
      joined.add(own.joined(row, found, Math.max(time, match._1().getLong(0))));
      if (other.outer && !match._2().getBoolean(1)) {
        other.rows.updateValue(match._1(), RowFactory.create(found, true));
      }
    }
    keep(own, time, RowFactory.create(row, !joined.isEmpty()));
    return joined;
  }

  private void keep(Side side, long time, Row entry) {
    Row before = progress.get();
    Long timer = before == null ? null : before.getLong(0);
    long number = before == null ? 0 : before.getLong(1) + 1;
    side.rows.updateValue(RowFactory.create(time, number), entry);
    long own = side.timer(time);
    if (timer == null || own < timer) {
      if (timer != null) getHandle().deleteTimer(timer);
      getHandle().registerTimer(own);
      timer = own;
    }
    progress.update(RowFactory.create(timer, number));
  }

  @Override
  public Iterator<Row> handleExpiredTimer(Row key, TimerValues timers, ExpiredTimerInfo expired) {
    long now = Math.max(expired.getExpiryTimeInMs(), timers.getCurrentWatermarkInMs());
    List<Row> alone = new ArrayList<>();
    long next = Long.MAX_VALUE;
    for (Side side : List.of(left, right)) {
      List<Tuple2<Row, Row>> gone = new ArrayList<>();
      Iterator<Tuple2<Row, Row>> kept = side.rows.iterator();
      while (kept.hasNext()) {
        Tuple2<Row, Row> entry = kept.next();
        long timer = side.timer(entry._1().getLong(0));
        if (timer <= now) gone.add(entry);
        else next = Math.min(next, timer);
      }
      gone.sort(BY_PLACE);
      for (Tuple2<Row, Row> entry : gone) {
        side.rows.removeKey(entry._1());
        if (side.outer && !entry._2().getBoolean(1)) {
          alone.add(side.joined(entry._2().getStruct(0), null, entry._1().getLong(0)));
        }
      }
    }
    if (next == Long.MAX_VALUE) {
      progress.clear();
    } else {
      getHandle().registerTimer(next);
      progress.update(RowFactory.create(next, progress.get().getLong(1)));
    }
    return scala(alone);
  }

  /** One side: its row's matches have times between {@code from} and {@code to} after its own. */
  private static final class Side implements Serializable {
    final StructType kept;
    final boolean isLeft;
    final boolean outer;
    final long from;
    final long to;
    transient MapState<Row, Row> rows;

    Side(StructType row, boolean isLeft, boolean outer, long from, long to) {
      kept = new StructType().add("row", row).add("matched", DataTypes.BooleanType);
      this.isLeft = isLeft;
      this.outer = outer;
      this.from = from;
      this.to = to;
    }

    /** Returns when no match can come any more of a row of this time. */
    long timer(long time) {
      return Operator.timer(time + to);
    }

    Row joined(Row own, Row other, Object time) {
      return isLeft ? RowFactory.create(own, other, time) : RowFactory.create(other, own, time);
    }
  }
}
