package headrace;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.plans.physical.UnknownPartitioning;
import org.apache.spark.sql.execution.RDDScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The table of an operator as its state has it, for queries from outside.
 *
 * <p>An operator that is given the option {@code state} takes its inputs for their columns only, and
 * gives what a checkpoint says that it remembers: {@code path} is the checkpoint's folder, {@code
 * operator} the number of the operator there, {@code batch} one that is committed. A query that
 * runs on the checkpoint meanwhile is not disturbed: Spark copies what it reads.
 */
public final class Remembered {
  private Remembered() {}

  static boolean isAsked(JsonNode said) {
    return said.hasNonNull("state");
  }

  /**
   * Returns what is kept under a name: {@code key} and {@code value}, of a map {@code key}, {@code
   * user_map_key} and {@code user_map_value}.
   */
  static Dataset<Row> state(SparkSession spark, JsonNode said, String variable) {
    JsonNode asked = said.get("state");
    return spark
        .read()
        .format("statestore")
        .option("operatorId", asked.get("operator").asLong())
        .option("batchId", asked.get("batch").asLong())
        .option("stateVarName", variable)
        .option("flattenCollectionTypes", true)
        .load(asked.get("path").asText());
  }

  /** Returns what is kept as bytes in a column of the state. */
  static byte[] bytes(Row state, int column) {
    return state.getStruct(column).getAs(0);
  }

  /** Returns the rows that an operator makes of each row of its state. */
  static Dataset<Row> rows(Dataset<Row> state, FlatMapFunction<Row, Row> read, StructType gives) {
    return state.flatMap(read, Encoders.row(gives));
  }

  /**
   * Returns the rows of an aggregation in Spark's SQL; {@code aggregated} is the same over no rows,
   * {@code state} its state, as {@code key} and {@code value}.
   *
   * <p>The values are what partial aggregates would hand to the last stage, so that stage, as Spark
   * plans it, is run on them.
   */
  public static Dataset<Row> aggregate(Dataset<Row> aggregated, Dataset<Row> state) {
    org.apache.spark.sql.classic.Dataset<Row> asked =
        (org.apache.spark.sql.classic.Dataset<Row>) aggregated;
    org.apache.spark.sql.classic.SparkSession spark = asked.sparkSession();
    // A plan belongs to the session that is active where it is made.
    org.apache.spark.sql.classic.SparkSession.setActiveSession(spark);
    SparkPlan plan = lastStage(asked.queryExecution().sparkPlan(), state);
    return spark.internalCreateDataFrame(plan.execute(), aggregated.schema(), false);
  }

  private static SparkPlan lastStage(SparkPlan plan, Dataset<Row> state) {
    List<SparkPlan> children = CollectionConverters.asJava(plan.children());
    if (children.size() != 1) throw new IllegalStateException("There is no aggregation in " + plan);
    SparkPlan child = children.get(0);
    boolean isLast = plan instanceof BaseAggregateExec && child instanceof BaseAggregateExec;
    SparkPlan below = isLast ? scan(child, state) : lastStage(child, state);
    return (SparkPlan) plan.withNewChildren(Aggregates.sequence(List.of(below)));
  }

  /** Returns the state in place of a plan that gives rows like its. */
  private static SparkPlan scan(SparkPlan like, Dataset<Row> state) {
    StructType key = (StructType) state.schema().apply(0).dataType();
    StructType value = (StructType) state.schema().apply(1).dataType();
    if (!fits(CollectionConverters.asJava(like.output()), key, value)) {
      throw new IllegalStateException(
          "The state has " + state.schema().sql() + ", not " + like.output());
    }
    // By place, since several aggregates may keep a value of one name.
    RDD<InternalRow> rows =
        ((org.apache.spark.sql.classic.Dataset<Row>) state)
            .queryExecution()
            .toRdd()
            .toJavaRDD()
            .map(row -> joined(row, key.length(), value.length()))
            .rdd();
    return new RDDScanExec(
        like.output(),
        rows,
        "state",
        new UnknownPartitioning(0),
        Aggregates.sequence(List.of()),
        Option.empty());
  }

  private static InternalRow joined(InternalRow state, int keys, int values) {
    return new JoinedRow(state.getStruct(0, keys), state.getStruct(1, values));
  }

  private static boolean fits(List<Attribute> columns, StructType key, StructType value) {
    if (columns.size() != key.length() + value.length()) return false;
    for (int i = 0; i < columns.size(); i++) {
      StructField kept = i < key.length() ? key.apply(i) : value.apply(i - key.length());
      if (!kept.dataType().sameType(columns.get(i).dataType())) return false;
    }
    return true;
  }
}
