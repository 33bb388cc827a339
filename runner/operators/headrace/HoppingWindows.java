package headrace;

import static org.apache.spark.sql.functions.timestamp_micros;
import static org.apache.spark.sql.functions.unix_micros;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;

/**
 * Aggregates in windows that overlap: one of {@code size} begins every {@code advance}.
 *
 * <p>Options as in {@link WindowOperator}, where {@code emit} is {@code updates}, and {@code size}
 * and {@code advance} (milliseconds). The windows are those of Spark's {@code window} function,
 * and so is what is late: a row counts in those of its windows that end after the watermark, which
 * is {@code grace} behind the newest row. Spark itself would shuffle, look up and write a row once
 * for each of its windows; this does it once, or twice where its windows are in two slots. {@code
 * _deleted} is always false, {@code _version} the number of rows.
 *
 * <p>State: the aggregates of windows that follow each other, in slots: so many that a row is rarely
 * in two where they are small, only as many as a row is in where they may grow. A slot is forgotten
 * when the last of its windows has closed.
 */
public final class HoppingWindows extends WindowOperator {
  private static final long SMALL = 16;

  private final long size;
  private final long advance;
  /** How far apart slots begin. */
  private final long length;
  private transient MapState<Long, byte[]> slots;

  private HoppingWindows(Dataset<Row> rows, JsonNode said) throws AnalysisException {
    super(rows, said);
    size = said.get("size").asLong();
    advance = said.get("advance").asLong();
    long windows = (size + advance - 1) / advance;
    length = advance * (isSmall() ? Math.max(SMALL, windows) : windows);
  }

  public static Dataset<Row> apply(List<Dataset<Row>> inputs, String options)
      throws AnalysisException {
    JsonNode said = Operator.read(options);
    Dataset<Row> rows = inputs.get(0);
    HoppingWindows windows = new HoppingWindows(rows, said);
    // A row is late when the last moment that its windows may hold has passed, so that is its time
    // here: the watermark is then that of Spark's own windows.
    Column until = timestamp_micros(unix_micros(time(said)).plus(1000 * windows.size));
    return windows.over(rows, said, windows.size, until);
  }

  @Override
  public void init(OutputMode output, TimeMode time) {
    slots = map("slots", Encoders.LONG());
  }

  @Override
  List<Row> handle(Row group, List<Timed> rows, long watermark) {
    Map<Long, Slot> touched = new TreeMap<>();
    for (Timed row : rows) {
      long time = Math.floorDiv(row.at(), 1000L) - size;
      Aggregates.Buffer one = task().of(row.row());
      for (long start = Math.floorDiv(time, advance) * advance;
          start > time - size && start + size > watermark;
          start -= advance) {
        touched.computeIfAbsent(number(start), this::read).add(start, one);
      }
    }
    List<Row> changes = new ArrayList<>();
    touched.forEach(
        (number, slot) -> {
          slots.updateValue(number, slot.write());
          slot.changed.forEach((start, buffer) -> changes.add(row(group, start, buffer)));
        });
    return changes;
  }

  @Override
  List<Row> expire(Row group, long timer, long watermark) {
    // The timer is the end of the last window of a slot.
    slots.removeKey(number(timer - size));
    return List.of();
  }

  @Override
  Dataset<Row> state(SparkSession spark, JsonNode said) {
    return Remembered.state(spark, said, "slots");
  }

  @Override
  List<Row> remembered(Row state) {
    List<Row> windows = new ArrayList<>();
    new Slot(Remembered.bytes(state, 2))
        .kept.forEach(
            (start, buffer) ->
                windows.add(row(state.getStruct(0), start, task().read(buffer))));
    return windows;
  }

  private Row row(Row group, long start, Aggregates.Buffer buffer) {
    return changed(group, 1000 * start, 1000 * (start + size), buffer, false);
  }

  private Slot read(long number) {
    byte[] bytes = slots.getValue(number);
    if (bytes == null) getHandle().registerTimer((number + 1) * length - advance + size);
    return new Slot(bytes);
  }

  private long number(long start) {
    return Math.floorDiv(start, length);
  }

  /** The windows of a slot by their starts: as they are kept, and those that have changed since. */
  private final class Slot {
    private final TreeMap<Long, byte[]> kept = new TreeMap<>();
    private final TreeMap<Long, Aggregates.Buffer> changed = new TreeMap<>();

    Slot(byte[] bytes) {
      if (bytes == null) return;
      ByteBuffer in = ByteBuffer.wrap(bytes);
      while (in.hasRemaining()) {
        long start = in.getLong();
        byte[] buffer = new byte[in.getInt()];
        in.get(buffer);
        kept.put(start, buffer);
      }
    }

    void add(long start, Aggregates.Buffer row) {
      task().merge(changed.computeIfAbsent(start, this::buffer), row);
    }

    byte[] write() {
      int length = 0;
      changed.forEach((start, buffer) -> kept.put(start, task().write(buffer)));
      for (byte[] buffer : kept.values()) length += 12 + buffer.length;
      ByteBuffer out = ByteBuffer.allocate(length);
      kept.forEach((start, buffer) -> out.putLong(start).putInt(buffer.length).put(buffer));
      return out.array();
    }

    private Aggregates.Buffer buffer(long start) {
      byte[] bytes = kept.get(start);
      return bytes == null ? task().fresh() : task().read(bytes);
    }
  }
}
