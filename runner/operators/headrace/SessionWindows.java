package headrace;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.ValueState;

/**
 * Aggregates of rows that follow each other: a session ends where nothing comes for a time.
 *
 * <p>Options as in {@link WindowOperator}, and {@code gap} (milliseconds). A row belongs to a
 * session if it is at most {@code gap} before its first or after its last row; one that belongs to
 * two merges them. {@code window.start} is the first row, {@code window.end} the last one and
 * {@code gap}. A session whose bounds change is deleted under its old window, with its old results,
 * before it comes under the new one; in a batch, too, where only its last results come out. {@code
 * _version} counts its rows; that of a deletion is one greater.
 *
 * <p>The watermark is {@code grace + gap} behind the newest row, so that a row is dropped once even
 * the session that it would make alone is closed. A session is final when the watermark has reached
 * its end: no row that still counts can join it then.
 */
public final class SessionWindows extends WindowOperator {
  private final long gap;
  /** The bounds of a group's sessions by time; their aggregates stand apart, to be read singly. */
  private transient ValueState<byte[]> bounds;

  private transient MapState<Long, byte[]> buffers;

  private SessionWindows(Dataset<Row> rows, JsonNode said) throws AnalysisException {
    super(rows, said);
    gap = 1000 * said.get("gap").asLong();
  }

  public static Dataset<Row> apply(List<Dataset<Row>> inputs, String options)
      throws AnalysisException {
    JsonNode said = Operator.read(options);
    Dataset<Row> rows = inputs.get(0);
    return new SessionWindows(rows, said).over(rows, said, said.get("gap").asLong());
  }

  /** A session as it is now and, under {@code kept}, as the state still has it. */
  private static final class Session {
    long start;
    long last;
    long timer;
    Kept kept;
    Aggregates.Buffer buffer;
    final List<Kept> absorbed = new ArrayList<>();
    boolean changed;
  }

  private record Kept(long start, long last) {}

  @Override
  public void init(OutputMode output, TimeMode time) {
    bounds = getHandle().getValueState("bounds", Encoders.BINARY(), TTLConfig.NONE());
    buffers = map("buffers", Encoders.LONG());
  }

  @Override
  List<Row> handle(Row group, List<Timed> rows, long watermark) {
    List<Session> sessions = read();
    List<Row> changes = new ArrayList<>();
    for (Timed row : rows) add(sessions, row, group, changes);
    for (Session session : sessions) {
      if (session.changed) keep(session, group, changes);
    }
    write(sessions);
    return changes;
  }

  @Override
  List<Row> expire(Row group, long timer, long watermark) {
    List<Session> sessions = read();
    List<Session> open = new ArrayList<>();
    List<Row> changes = new ArrayList<>();
    for (Session session : sessions) {
      long due = due(session);
      if (due <= watermark) {
        if (!atOnce) changes.add(row(group, session.kept, buffer(session.kept), false));
        buffers.removeKey(session.start);
        continue;
      }
      if (session.timer <= watermark) {
        // It was prolonged after its timer had been set.
        session.timer = due;
        getHandle().registerTimer(due);
      }
      open.add(session);
    }
    write(open);
    return changes;
  }

  /** The aggregates of each session, and the bounds of all sessions of its group. */
  @Override
  Dataset<Row> state(SparkSession spark, JsonNode said) {
    Dataset<Row> kept = Remembered.state(spark, said, "buffers");
    Dataset<Row> of = Remembered.state(spark, said, "bounds");
    return kept.join(of, kept.col("key").eqNullSafe(of.col("key")))
        .select(
            kept.col("key"), kept.col("user_map_key"), kept.col("user_map_value"), of.col("value"));
  }

  @Override
  List<Row> remembered(Row state) {
    long start = state.getStruct(1).getLong(0);
    for (Session session : read(Remembered.bytes(state, 3))) {
      if (session.start == start) {
        Aggregates.Buffer buffer = task().read(Remembered.bytes(state, 2));
        return List.of(row(state.getStruct(0), session.kept, buffer, false));
      }
    }
    return List.of();
  }

  private void add(List<Session> sessions, Timed row, Row group, List<Row> changes) {
    int place = 0;
    while (place < sessions.size() && sessions.get(place).last + gap < row.at()) place++;
    Session session;
    if (place == sessions.size() || row.at() < sessions.get(place).start - gap) {
      session = new Session();
      session.start = session.last = row.at();
      session.buffer = task().fresh();
      sessions.add(place, session);
    } else {
      session = sessions.get(place);
      load(session);
      boolean grows = row.at() < session.start || row.at() > session.last;
      if (grows) delete(session, group, changes);
      if (place + 1 < sessions.size() && row.at() >= sessions.get(place + 1).start - gap) {
        absorb(session, sessions.remove(place + 1), group, changes);
      }
      session.start = Math.min(session.start, row.at());
      session.last = Math.max(session.last, row.at());
    }
    task().merge(session.buffer, task().of(row.row()));
    session.changed = true;
  }

  private void absorb(Session session, Session next, Row group, List<Row> changes) {
    load(next);
    delete(next, group, changes);
    task().merge(session.buffer, next.buffer);
    session.last = next.last;
    session.absorbed.addAll(next.absorbed);
    if (next.kept != null) session.absorbed.add(next.kept);
    // A timer that is set fires before the session's end, if in vain.
    if (session.timer == 0) session.timer = next.timer;
  }

  /**
   * Says that a session is no longer under its bounds. In a batch it may never have been seen there;
   * but real time, cut off by a crash, may have written just that, and nobody else would delete it.
   */
  private void delete(Session session, Row group, List<Row> changes) {
    if (!atOnce) return;
    Kept gone = new Kept(session.start, session.last);
    changes.add(row(group, gone, session.buffer, true));
  }

  /** Brings the state up to date with a session that changed, and says what it is now. */
  private void keep(Session session, Row group, List<Row> changes) {
    if (session.kept != null) session.absorbed.add(0, session.kept);
    Kept now = new Kept(session.start, session.last);
    for (Kept old : session.absorbed) {
      if (old.start() != now.start()) buffers.removeKey(old.start());
    }
    buffers.updateValue(now.start(), task().write(session.buffer));
    if (session.timer == 0) {
      session.timer = due(session);
      getHandle().registerTimer(session.timer);
    }
    if (atOnce) changes.add(row(group, now, session.buffer, false));
  }

  private Row row(Row group, Kept window, Aggregates.Buffer buffer, boolean deleted) {
    return changed(group, window.start(), window.last() + gap, buffer, deleted);
  }

  private void load(Session session) {
    if (session.buffer == null) session.buffer = buffer(session.kept);
  }

  private Aggregates.Buffer buffer(Kept kept) {
    return task().read(buffers.getValue(kept.start()));
  }

  /** The first watermark that has reached the session's end. */
  private long due(Session session) {
    return -Math.floorDiv(-(session.last + gap), 1000L);
  }

  private List<Session> read() {
    return read(bounds.get());
  }

  private static List<Session> read(byte[] bytes) {
    List<Session> sessions = new ArrayList<>();
    if (bytes == null) return sessions;
    ByteBuffer in = ByteBuffer.wrap(bytes);
    while (in.hasRemaining()) {
      Session session = new Session();
      session.start = in.getLong();
      session.last = in.getLong();
      session.timer = in.getLong();
      session.kept = new Kept(session.start, session.last);
      sessions.add(session);
    }
    return sessions;
  }

  private void write(List<Session> sessions) {
    if (sessions.isEmpty()) {
      bounds.clear();
      return;
    }
    ByteBuffer out = ByteBuffer.allocate(24 * sessions.size());
    for (Session session : sessions) {
      out.putLong(session.start).putLong(session.last).putLong(session.timer);
    }
    bounds.update(out.array());
  }
}
