package headrace;

import static org.apache.spark.sql.functions.expr;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.AnsiTypeCoercion;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * One value per group that every row changes: {@code acc = expression(acc, row)}.
 *
 * <p>Options: {@code group_by}, {@code initial} (SQL without columns), {@code expression} (SQL over
 * {@code acc} and the row's columns), {@code arrived}, {@code lane} and {@code version} (columns
 * that say when rows came, as {@link Arrival} has it). Out come the group, {@code acc} and {@code _version}, the number of rows so far. In real-time mode each row gives one; in a
 * micro-batch the rows of a group are taken in the order in which they came and give one together.
 *
 * <p>The type of {@code acc} is that of {@code initial}, widened until it holds the expression's
 * result.
 */
public final class Reduce extends StatefulProcessor<Row, Row, Row> {
  private static final String ACC = "acc";
  private static final String COLUMN = "__headrace_column_";
  /** Widening a decimal by one digit at a time ends with the largest. */
  private static final int ROUNDS = 100;

  private final Formula initial;
  private final Formula step;
  private final DataType type;
  private final StructType rowType;
  private final Arrival arrival;
  private final int groups;
  private transient ValueState<byte[]> kept;
  private transient Task task;

  private Reduce(
      Formula initial, Formula step, DataType type, StructType rowType, Arrival arrival, int groups) {
    this.initial = initial;
    this.step = step;
    this.type = type;
    this.rowType = rowType;
    this.arrival = arrival;
    this.groups = groups;
  }

  public static Dataset<Row> apply(List<Dataset<Row>> inputs, String options)
      throws AnalysisException {
    JsonNode said = Operator.read(options);
    Dataset<Row> rows = inputs.get(0);
    SparkSession spark = rows.sparkSession();
    Dataset<Row> nothing = template(spark, new StructType());
    Column first = expr(said.get("initial").asText());
    Column next = expr(said.get("expression").asText());
    DataType type = type(spark, rows.schema(), nothing.select(first), next);
    Formula initial = Formula.of(nothing, first.cast(type));
    Formula step = Formula.of(template(spark, withAcc(type, rows.schema())), next.cast(type));

    // The rows bring what the expression reads, then when they came, then the group.
    List<Column> selected = new ArrayList<>();
    for (String name : step.reads()) {
      selected.add(Operator.column(name).as(COLUMN + selected.size()));
    }
    selected.addAll(Arrival.columns(said));
    Group group = new Group(rows, said.get("group_by"), false);
    selected.addAll(group.selected);
    Dataset<Row> ready = rows.select(selected.toArray(Column[]::new));
    StructType rowType = ready.schema().asNullable();
    Arrival arrival = Arrival.ofColumns(rowType, said);
    StructType gives =
        group.given(rowType).add(ACC, type).add("_version", DataTypes.LongType);
    Column[] key = group.key.toArray(Column[]::new);
    Reduce reduce = new Reduce(initial, step, type, rowType, arrival, group.size);
    Dataset<Row> changes =
        Remembered.isAsked(said)
            ? Remembered.rows(
                Remembered.state(spark, said, "acc"), row -> reduce.remembered(row), gives)
            : ready
                .groupBy(key)
                .as(Encoders.row(ready.select(key).schema().asNullable()), Encoders.row(rowType))
                .transformWithState(
                    reduce, TimeMode.None(), OutputMode.Update(), Encoders.row(gives));
    List<Column> given = new ArrayList<>(group.given);
    given.add(Operator.column(ACC));
    given.add(Operator.column("_version"));
    return changes.select(given.toArray(Column[]::new));
  }

  @Override
  public void init(OutputMode output, TimeMode time) {
    kept = getHandle().getValueState("acc", Encoders.BINARY(), TTLConfig.NONE());
  }

  @Override
  public Iterator<Row> handleInputRows(Row group, Iterator<Row> rows, TimerValues timers) {
    List<Row> sorted = new ArrayList<>();
    rows.foreach(sorted::add);
    arrival.sort(sorted);
    byte[] before = kept.get();
    GenericInternalRow acc = new GenericInternalRow(1);
    long version = 0;
    if (before == null) {
      acc.update(0, initial.value(new GenericInternalRow(0)));
    } else {
      UnsafeRow row = read(before);
      acc.update(0, row.get(0, type));
      version = row.getLong(1);
    }
    for (Row row : sorted) {
      acc.update(0, step.value(new JoinedRow(acc, task().reader.apply(row))));
    }
    version += sorted.size();
    kept.update(
        task()
            .packer
            .apply(new GenericInternalRow(new Object[] {acc.values()[0], version}))
            .copy()
            .getBytes());
    return Operator.scala(List.of(row(group, acc, version)));
  }

  private java.util.Iterator<Row> remembered(Row state) {
    UnsafeRow kept = read(Remembered.bytes(state, 1));
    GenericInternalRow acc = new GenericInternalRow(new Object[] {kept.get(0, type)});
    return List.of(row(state.getStruct(0), acc, kept.getLong(1))).iterator();
  }

  /** Returns what is kept of a group: acc, and the number of its rows. */
  private static UnsafeRow read(byte[] bytes) {
    UnsafeRow row = new UnsafeRow(2);
    row.pointTo(bytes, bytes.length);
    return row;
  }

  private Row row(Row group, InternalRow acc, long version) {
    Object[] all = new Object[groups + 2];
    for (int i = 0; i < groups; i++) all[i] = group.get(i);
    all[groups] = task().writer.apply(acc).get(0);
    all[groups + 1] = version;
    return RowFactory.create(all);
  }

  private Task task() {
    if (task == null) task = new Task();
    return task;
  }

  private final class Task {
    final ExpressionEncoder.Serializer<Row> reader =
        ExpressionEncoder.apply(rowType).createSerializer();
    final ExpressionEncoder.Deserializer<Row> writer =
        Aggregates.deserializer(new StructType().add(ACC, type));
    final UnsafeProjection packer = Aggregates.packer(type);
  }

  /** An expression as Spark would run it: what it reads, and steps, each over the one before. */
  private record Formula(List<String> reads, Expression[][] steps, Expression result)
      implements Serializable {
    /** Understands one column over rows, of which {@code acc} comes first where there is one. */
    static Formula of(Dataset<Row> over, Column column) throws AnalysisException {
      Dataset<Row> selected = over.select(column.as("result"));
      LogicalPlan plan =
          ((org.apache.spark.sql.classic.Dataset<Row>) selected)
              .queryExecution()
              .optimizedPlan();
      List<Project> projects = new ArrayList<>();
      LogicalPlan leaf = plan;
      for (; leaf instanceof Project project; leaf = project.child()) projects.add(0, project);
      if (!CollectionConverters.asJava(leaf.children()).isEmpty()) {
        throw Aggregates.refusal(
            "Only an expression over acc and one row can stand here: no aggregate, no generator.");
      }
      List<Attribute> columns = new ArrayList<>(CollectionConverters.asJava(leaf.output()));
      List<String> reads = new ArrayList<>();
      if (!columns.isEmpty()) {
        Attribute acc = columns.remove(0);
        columns.removeIf(
            c -> projects.isEmpty() || !projects.get(0).references().contains(c));
        columns.forEach(c -> reads.add(c.name()));
        columns.add(0, acc);
      }
      Expression[][] steps = new Expression[projects.size()][];
      for (int i = 0; i < steps.length; i++) {
        steps[i] = Aggregates.bind(expressions(projects.get(i)), columns);
        columns = CollectionConverters.asJava(projects.get(i).output());
      }
      Expression result = CollectionConverters.asJava(plan.output()).get(0);
      return new Formula(reads, steps, Aggregates.bind(result, columns));
    }

    Object value(InternalRow row) {
      for (Expression[] step : steps) {
        Object[] values = new Object[step.length];
        for (int i = 0; i < values.length; i++) values[i] = step[i].eval(row);
        row = new GenericInternalRow(values);
      }
      return InternalRow.copyValue(result.eval(row));
    }
  }

  private static scala.collection.immutable.Seq<Expression> expressions(Project project) {
    List<Expression> all = new ArrayList<>();
    CollectionConverters.asJava(project.projectList()).forEach(e -> all.add((Expression) e));
    return Aggregates.sequence(all);
  }

  /** Finds a type that holds the initial value and whatever the expression makes of it. */
  private static DataType type(
      SparkSession spark, StructType rows, Dataset<Row> initial, Column expression)
      throws AnalysisException {
    DataType start = initial.schema().apply(0).dataType();
    DataType type = start;
    for (int i = 0; i < ROUNDS; i++) {
      DataType result =
          template(spark, withAcc(type, rows)).select(expression).schema().apply(0).dataType();
      DataType wider = wider(type, result);
      if (wider == null || i == ROUNDS - 1) {
        throw Aggregates.refusal(
            "The initial value is of type "
                + start.sql()
                + ", but the expression gives "
                + result.sql()
                + ". Cast one to the type of the other.");
      }
      if (wider.equals(type)) break;
      type = wider;
    }
    return type;
  }

  /** Returns a type that holds both without loss of meaning, null where there is none. */
  private static DataType wider(DataType a, DataType b) {
    if (a.equals(b) || b instanceof NullType) return a;
    if (a instanceof NullType) return b;
    if (a instanceof NumericType && b instanceof NumericType) {
      return AnsiTypeCoercion.findWiderTypeForTwo(a, b).getOrElse(() -> null);
    }
    if (a instanceof ArrayType some && b instanceof ArrayType more) {
      DataType element = wider(some.elementType(), more.elementType());
      return element == null ? null : new ArrayType(element, true);
    }
    if (a instanceof MapType some && b instanceof MapType more) {
      DataType key = wider(some.keyType(), more.keyType());
      DataType value = wider(some.valueType(), more.valueType());
      return key == null || value == null ? null : new MapType(key, value, true);
    }
    if (a instanceof StructType some && b instanceof StructType more) {
      if (!Arrays.equals(some.fieldNames(), more.fieldNames())) return null;
      StructType both = new StructType();
      for (int i = 0; i < some.length(); i++) {
        DataType field = wider(some.apply(i).dataType(), more.apply(i).dataType());
        if (field == null) return null;
        both = both.add(some.apply(i).name(), field, true);
      }
      return both;
    }
    return null;
  }

  private static StructType withAcc(DataType type, StructType rows) {
    StructType all = new StructType().add(ACC, type, true);
    for (StructField field : rows.fields()) {
      if (!field.name().equalsIgnoreCase(ACC)) {
        all = all.add(field.name(), field.dataType(), true);
      }
    }
    return all;
  }

  /** No rows of a type, in a plan that the optimizer does not see through. */
  private static Dataset<Row> template(SparkSession spark, StructType type) {
    return spark.createDataFrame(
        JavaSparkContext.fromSparkContext(spark.sparkContext()).<Row>emptyRDD(), type);
  }
}
