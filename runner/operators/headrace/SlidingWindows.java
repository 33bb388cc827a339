package headrace;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;

/**
 * Aggregates of all rows within a time of each other: one window per difference of timestamps.
 *
 * <p>Options as in {@link WindowOperator}, and {@code size} (milliseconds). A window holds the rows
 * from {@code start} to {@code start + size}, both included, in whole milliseconds. There is the
 * window that ends with each row, {@code [t - size, t]}, and the one that begins right after each
 * row, {@code [t + 1, t + 1 + size]}, if any row is in it. So the windows at the end do not depend
 * on the order in which rows came, only on which of them were too late. As in Kafka Streams a
 * window that would begin before 1970 begins there: the rows of its first {@code size} milliseconds
 * share {@code [0, size]}. {@code _deleted} is always false, {@code _version} the number of rows.
 *
 * <p>The watermark is {@code grace + size} behind the newest row, so a window is closed ({@code
 * grace} after its end) when the watermark has reached its start: later rows change or make only
 * windows that start after it.
 *
 * <p>State: the aggregates of each window, and of each moment that had rows, of which new windows
 * are made. Which there are is noted in slots as long as a window, so that a row looks at three.
 */
public final class SlidingWindows extends WindowOperator {
  private final long size;
  private transient MapState<Long, byte[]> slots;
  private transient MapState<Long, byte[]> moments;
  private transient MapState<Long, byte[]> windows;

  private SlidingWindows(Dataset<Row> rows, JsonNode said) throws AnalysisException {
    super(rows, said);
    size = said.get("size").asLong();
  }

  public static Dataset<Row> apply(List<Dataset<Row>> inputs, String options)
      throws AnalysisException {
    JsonNode said = Operator.read(options);
    Dataset<Row> rows = inputs.get(0);
    return new SlidingWindows(rows, said).over(rows, said, said.get("size").asLong());
  }

  @Override
  public void init(OutputMode output, TimeMode time) {
    slots = map("slots", Encoders.LONG());
    moments = map("moments", Encoders.LONG());
    windows = map("windows", Encoders.LONG());
  }

  @Override
  List<Row> handle(Row group, List<Timed> rows, long watermark) {
    TreeMap<Long, Aggregates.Buffer> arrived = new TreeMap<>();
    for (Timed row : rows) {
      long time = Math.floorDiv(row.at(), 1000L);
      Aggregates.Buffer buffer = arrived.computeIfAbsent(time, t -> task().fresh());
      task().add(buffer, row.row());
    }
    Changes changes = new Changes(watermark);
    arrived.forEach(changes::add);
    return changes.keep(group);
  }

  @Override
  List<Row> expire(Row group, long timer, long watermark) {
    List<Row> changes = new ArrayList<>();
    // A moment at the end of a slot is over with the first of the next.
    for (long number : new TreeSet<>(List.of(number(timer - 1), number(timer)))) {
      byte[] bytes = slots.getValue(number);
      if (bytes == null) continue;
      Slot slot = Slot.read(bytes);
      while (!slot.starts.isEmpty() && slot.starts.first() <= watermark) {
        long start = slot.starts.pollFirst();
        if (!atOnce) changes.add(row(group, start, task().read(windows.getValue(start))));
        windows.removeKey(start);
      }
      // The window right after a moment may still come as long as the watermark is not past it.
      while (!slot.times.isEmpty() && slot.times.first() < watermark) {
        moments.removeKey(slot.times.pollFirst());
      }
      if (slot.isEmpty()) {
        slots.removeKey(number);
        continue;
      }
      if (slot.timer <= watermark) {
        slot.timer = Long.MAX_VALUE;
        if (!slot.starts.isEmpty()) wake(slot, dueOfStart(slot.starts.first()));
        if (!slot.times.isEmpty()) wake(slot, slot.times.first() + 1);
      }
      slots.updateValue(number, slot.write());
    }
    return changes;
  }

  @Override
  Dataset<Row> state(SparkSession spark, JsonNode said) {
    return Remembered.state(spark, said, "windows");
  }

  @Override
  List<Row> remembered(Row state) {
    long start = state.getStruct(1).getLong(0);
    return List.of(row(state.getStruct(0), start, task().read(Remembered.bytes(state, 2))));
  }

  /** What rows of one group and call change, in memory until all of them are in. */
  private final class Changes {
    private final long watermark;
    private final Map<Long, Slot> seen = new HashMap<>();
    private final Map<Long, Aggregates.Buffer> atMoment = new HashMap<>();
    private final TreeMap<Long, Aggregates.Buffer> inWindow = new TreeMap<>();
    private final TreeSet<Long> changedMoments = new TreeSet<>();
    private final TreeSet<Long> changedWindows = new TreeSet<>();

    Changes(long watermark) {
      this.watermark = watermark;
    }

    void add(long time, Aggregates.Buffer rows) {
      Slot slot = slot(number(time));
      boolean isNew = slot.times.add(time);
      if (isNew) {
        slot.changed = true;
        atMoment.put(time, task().fresh());
        wake(slot, time + 1);
      }
      task().merge(moment(time), rows);
      changedMoments.add(time);
      long left = Math.max(0, time - size);
      for (long number = number(left); number <= number(time); number++) {
        for (long start : slot(number).starts.subSet(left, true, time, true)) {
          if (!isOpen(start)) continue;
          task().merge(window(start), rows);
          changedWindows.add(start);
        }
      }
      if (!isNew) return;
      make(left);
      Long before = latest(time - size - 1, time - 1);
      if (before != null) make(before + 1);
      if (isAny(time + 1, time + 1 + size)) make(time + 1);
    }

    List<Row> keep(Row group) {
      for (long time : changedMoments) {
        moments.updateValue(time, task().write(atMoment.get(time)));
      }
      List<Row> changes = new ArrayList<>();
      for (long start : changedWindows) {
        windows.updateValue(start, task().write(inWindow.get(start)));
        if (atOnce) changes.add(row(group, start, inWindow.get(start)));
      }
      seen.forEach(
          (number, slot) -> {
            if (slot.changed) slots.updateValue(number, slot.write());
          });
      return changes;
    }

    /** Makes the window that begins at {@code start}, if it is open and not there yet. */
    private void make(long start) {
      if (!isOpen(start)) return;
      Slot slot = slot(number(start));
      if (!slot.starts.add(start)) return;
      slot.changed = true;
      wake(slot, dueOfStart(start));
      Aggregates.Buffer buffer = task().fresh();
      for (long number = number(start); number <= number(start + size); number++) {
        for (long time : slot(number).times.subSet(start, true, start + size, true)) {
          task().merge(buffer, moment(time));
        }
      }
      inWindow.put(start, buffer);
      changedWindows.add(start);
    }

    private boolean isOpen(long start) {
      // Before there is a watermark it reads 0.
      return start > watermark || (start == 0 && watermark == 0);
    }

    private Long latest(long from, long to) {
      for (long number = number(to); number >= number(from); number--) {
        Long found = slot(number).times.floor(to);
        if (found != null) return found >= from ? found : null;
      }
      return null;
    }

    private boolean isAny(long from, long to) {
      for (long number = number(from); number <= number(to); number++) {
        Long found = slot(number).times.ceiling(from);
        if (found != null) return found <= to;
      }
      return false;
    }

    private Slot slot(long number) {
      return seen.computeIfAbsent(number, n -> Slot.read(slots.getValue(n)));
    }

    private Aggregates.Buffer moment(long time) {
      return atMoment.computeIfAbsent(time, t -> task().read(moments.getValue(t)));
    }

    private Aggregates.Buffer window(long start) {
      return inWindow.computeIfAbsent(start, s -> task().read(windows.getValue(s)));
    }
  }

  /** The moments and the starts of windows within some time, and the timer that clears them. */
  private static final class Slot {
    long timer = Long.MAX_VALUE;
    final TreeSet<Long> times = new TreeSet<>();
    final TreeSet<Long> starts = new TreeSet<>();
    boolean changed;

    boolean isEmpty() {
      return times.isEmpty() && starts.isEmpty();
    }

    static Slot read(byte[] bytes) {
      Slot slot = new Slot();
      if (bytes == null) return slot;
      ByteBuffer in = ByteBuffer.wrap(bytes);
      slot.timer = in.getLong();
      for (int left = in.getInt(); left > 0; left--) slot.times.add(in.getLong());
      while (in.hasRemaining()) slot.starts.add(in.getLong());
      return slot;
    }

    byte[] write() {
      ByteBuffer out = ByteBuffer.allocate(12 + 8 * (times.size() + starts.size()));
      out.putLong(timer).putInt(times.size());
      times.forEach(out::putLong);
      starts.forEach(out::putLong);
      return out.array();
    }
  }

  private Row row(Row group, long start, Aggregates.Buffer buffer) {
    return changed(group, 1000 * start, 1000 * (start + size), buffer, false);
  }

  /** Which slot a time is in: as long as a window with both its ends. */
  private long number(long time) {
    return Math.floorDiv(time, size + 1);
  }

  /** The first watermark that closes the window; 0 is no watermark yet. */
  private static long dueOfStart(long start) {
    return Math.max(1, start);
  }

  /** Sees to it that the slot is cleared no later than at {@code due}. */
  private void wake(Slot slot, long due) {
    if (due >= slot.timer) return;
    slot.timer = due;
    getHandle().registerTimer(due);
  }
}
