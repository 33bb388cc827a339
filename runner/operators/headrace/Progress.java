package headrace;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkStatusTracker;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.ui.SQLAppStatusStore;
import org.apache.spark.sql.execution.ui.SQLExecutionUIData;
import org.apache.spark.sql.execution.ui.SQLPlanMetric;
import org.apache.spark.sql.execution.ui.SparkPlanGraph;
import org.apache.spark.sql.execution.ui.SparkPlanGraphNode;
import org.apache.spark.sql.streaming.StreamingQueryListener;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What the queries of a session do, for who watches them: told in one answer, because many small
 * questions from Python would take the time that the queries need.
 *
 * <p>Rows per step within a real-time batch, which Spark itself reports only at the batch's end,
 * come from its status store: it has the SQL metrics of running tasks, brought by their heartbeats.
 * A step that is observed shows in the plan as CollectMetrics with the step's name; the operator
 * below it that counts its output rows has counted the step's.
 */
public final class Progress extends StreamingQueryListener {
  private static final ObjectMapper JSON = new ObjectMapper();
  // What the operator below has counted is the step's only where all rows are counted.
  private static final Pattern OBSERVED =
      Pattern.compile("CollectMetrics (\\w+), \\[count\\(1\\) AS rows.*", Pattern.DOTALL);
  private static final Pattern JOB =
      Pattern.compile("(.*)\nid = .*\nrunId = .*\nbatch = (\\d+)\\s*", Pattern.DOTALL);
  private static final int NEWEST = 50;

  private final SQLAppStatusStore store;
  private final SparkStatusTracker tracker;
  private final Queue<String> ended = new ConcurrentLinkedQueue<>();
  // By the number of their execution; null for what is no real-time batch.
  private Map<Long, Batch> known = new HashMap<>();

  /** A real-time batch: the accumulators that hold a step's rows, and those of the scans. */
  private record Batch(
      String segment, long number, Map<String, List<Long>> steps, List<Long> scans) {}

  private Progress(SparkSession spark) {
    store = spark.sharedState().statusStore();
    tracker = spark.sparkContext().statusTracker();
  }

  /** Begins to listen to all queries of a session. */
  public static Progress of(SparkSession spark) {
    Progress progress = new Progress(spark);
    spark.streams().addListener(progress);
    return progress;
  }

  @Override
  public void onQueryStarted(QueryStartedEvent event) {}

  @Override
  public void onQueryProgress(QueryProgressEvent event) {
    ended.add(event.progress().json());
  }

  @Override
  public void onQueryTerminated(QueryTerminatedEvent event) {}

  /** Returns, as a JSON array, Spark's report of each batch that has ended since the last call. */
  public String ended() {
    List<String> reports = new ArrayList<>();
    for (String report = ended.poll(); report != null; report = ended.poll()) reports.add(report);
    return "[" + String.join(",", reports) + "]";
  }

  /**
   * Returns, as a JSON array, each real-time batch under way: its {@code segment} and {@code batch},
   * the rows {@code out} of each step and {@code read}, whether tasks are {@code reading}. The
   * counts are about a second old.
   */
  public synchronized String underWay() {
    ArrayNode told = JSON.createArrayNode();
    Map<Long, Batch> running = new HashMap<>();
    int first = (int) Math.max(store.executionsCount() - NEWEST, 0);
    for (SQLExecutionUIData one : list(store.executionsList(first, NEWEST))) {
      // The query's batch has an execution of its own below the one of that id.
      if (one.completionTime().isDefined() || one.executionId() == one.rootExecutionId()) continue;
      long id = one.executionId();
      Batch batch = known.containsKey(id) ? known.get(id) : batch(one);
      running.put(id, batch);
      if (batch != null) tell(told.addObject(), one, batch);
    }
    known = running;
    return told.toString();
  }

  private Batch batch(SQLExecutionUIData execution) {
    Matcher job = JOB.matcher(execution.description());
    if (!job.matches()) return null;
    SparkPlanGraph graph = store.planGraph(execution.executionId());
    Map<Long, List<Long>> below = new HashMap<>();
    list(graph.edges())
        .forEach(e -> below.computeIfAbsent(e.toId(), id -> new ArrayList<>()).add(e.fromId()));
    Map<Long, List<Long>> counted = new HashMap<>();
    List<Long> scans = new ArrayList<>();
    for (SparkPlanGraphNode node : list(graph.allNodes())) {
      List<Long> rows = new ArrayList<>();
      for (SQLPlanMetric metric : list(node.metrics())) {
        if (metric.name().equals("number of output rows")) rows.add(metric.accumulatorId());
      }
      counted.put(node.id(), rows);
      if (node.name().startsWith("RealTimeStreamScan")) scans.addAll(rows);
    }
    if (scans.isEmpty()) return null;
    Map<String, List<Long>> steps = new HashMap<>();
    for (SparkPlanGraphNode node : list(graph.allNodes())) {
      Matcher observed = OBSERVED.matcher(node.desc());
      if (observed.matches()) steps.put(observed.group(1), firstCounted(node.id(), below, counted));
    }
    return new Batch(job.group(1), Long.parseLong(job.group(2)), steps, scans);
  }

  private static List<Long> firstCounted(
      long node, Map<Long, List<Long>> below, Map<Long, List<Long>> counted) {
    List<Long> next = below.getOrDefault(node, List.of());
    while (next.size() == 1) {
      List<Long> rows = counted.getOrDefault(next.get(0), List.of());
      if (!rows.isEmpty()) return rows;
      next = below.getOrDefault(next.get(0), List.of());
    }
    return List.of();
  }

  private void tell(ObjectNode told, SQLExecutionUIData execution, Batch batch) {
    Map<Object, String> values =
        CollectionConverters.asJava(store.executionMetrics(execution.executionId()));
    told.put("segment", batch.segment).put("batch", batch.number);
    ObjectNode out = told.putObject("out");
    batch.steps.forEach(
        (step, ids) ->
            out.put(step, ids.stream().mapToLong(id -> value(values, id)).max().orElse(0)));
    told.put("read", batch.scans.stream().mapToLong(id -> value(values, id)).sum());
    told.put("reading", isReading(execution));
  }

  private boolean isReading(SQLExecutionUIData execution) {
    for (Object stage : CollectionConverters.asJava(execution.stages())) {
      var info = tracker.getStageInfo((Integer) stage);
      if (info.isDefined() && info.get().numActiveTasks() > 0) return true;
    }
    return false;
  }

  /** Returns the value of an accumulator, which Spark writes as people read it: 1,234. */
  private static long value(Map<Object, String> values, long id) {
    return Long.parseLong(values.getOrDefault(id, "0").replace(",", ""));
  }

  private static <T> List<T> list(scala.collection.Seq<T> sequence) {
    return CollectionConverters.asJava(sequence);
  }
}
