package headrace;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.spark.QueryContext;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.ImperativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;
import org.apache.spark.sql.catalyst.optimizer.DecimalAggregates;
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.types.DataTypeUtils;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.collection.immutable.Vector$;
import scala.jdk.javaapi.CollectionConverters;

/**
 * SQL aggregates whose intermediate state can be kept, merged and read as often as one likes.
 *
 * <p>Spark analyzes {@code rows.agg(…)}; its own aggregate functions are taken out of the plan,
 * so types, nulls and errors are Spark's. What the functions are applied to, and what is made of
 * their values ({@code sum(x) / count(*)}), stays with Spark: the arguments are columns to be
 * selected before the operator, the results columns to be selected after it. In between there are
 * only the functions, which a {@link Task} runs as Spark's own streaming aggregation does: new
 * rows go into a fresh buffer, which is then merged into the one that was kept.
 */
final class Aggregates implements Serializable {
  private static final String ARGUMENT = "__headrace_argument_";
  private static final String VALUE = "__headrace_value_";

  private final StructType rowType;
  private final DataType[] bufferTypes;
  private final Function[] calls;
  private final StructType values;
  private final transient List<Column> arguments;
  private final transient List<Expression> results;
  private final transient Map<Long, Integer> places;

  /** Understands {@code [["name", "sql"], …]} over the columns of {@code rows}. */
  Aggregates(Dataset<Row> rows, String time, JsonNode said) throws AnalysisException {
    results = analyze(rows, said);
    Map<Long, AggregateExpression> found = new LinkedHashMap<>();
    results.forEach(result -> find(result, found));
    places = new HashMap<>();
    arguments = new ArrayList<>();
    Map<Expression, AttributeReference> columns = new LinkedHashMap<>();
    StructType values = new StructType();
    List<AggregateFunction> over = new ArrayList<>();
    List<Expression> filters = new ArrayList<>();
    for (Map.Entry<Long, AggregateExpression> entry : found.entrySet()) {
      AggregateExpression call = entry.getValue();
      if (call.isDistinct()) {
        throw refusal("DISTINCT can't be kept up to date; use approx_count_distinct.");
      }
      AggregateFunction function =
          (AggregateFunction) onColumns(call.aggregateFunction(), columns);
      if (!(function instanceof DeclarativeAggregate || function instanceof ImperativeAggregate)) {
        throw refusal(call.sql() + " can't be computed in such a window.");
      }
      places.put(entry.getKey(), over.size());
      values = values.add(VALUE + over.size(), function.dataType(), true);
      over.add(function);
      filters.add(call.filter().isEmpty() ? null : column(call.filter().get(), columns));
    }
    this.values = values;
    StructType rowType = new StructType().add(time, DataTypes.TimestampType, true);
    List<Attribute> inputs = new ArrayList<>();
    inputs.add(DataTypeUtils.toAttribute(rowType.apply(0)));
    for (Map.Entry<Expression, AttributeReference> entry : columns.entrySet()) {
      AttributeReference column = entry.getValue();
      arguments.add(ExpressionUtils.column(entry.getKey()).as(column.name()));
      rowType = rowType.add(column.name(), column.dataType(), true);
      inputs.add(column);
    }
    this.rowType = rowType;
    List<Attribute> kept = new ArrayList<>();
    List<Attribute> other = new ArrayList<>();
    for (AggregateFunction function : over) {
      kept.addAll(CollectionConverters.asJava(function.aggBufferAttributes()));
      other.addAll(CollectionConverters.asJava(function.inputAggBufferAttributes()));
    }
    List<Attribute> updating = concat(kept, inputs);
    List<Attribute> merging = concat(kept, other);
    calls = new Function[over.size()];
    int offset = 0;
    for (int i = 0; i < calls.length; i++) {
      AggregateFunction function = over.get(i);
      Expression filter = filters.get(i) == null ? null : bind(filters.get(i), inputs);
      calls[i] =
          function instanceof DeclarativeAggregate declarative
              ? new Declarative(declarative, offset, filter, updating, merging)
              : new Imperative((ImperativeAggregate) function, offset, filter, inputs);
      offset += CollectionConverters.asJava(function.aggBufferAttributes()).size();
    }
    bufferTypes = kept.stream().map(Attribute::dataType).toArray(DataType[]::new);
  }

  /** The columns that the functions are applied to, to be selected before the operator. */
  List<Column> arguments() {
    return arguments;
  }

  /** What {@link Task#values} answers: the value of each function. */
  StructType values() {
    return values;
  }

  /** The named results over the rows after the operator, which have the values as columns. */
  List<Column> results(Dataset<Row> rows) {
    Map<String, Attribute> columns = new HashMap<>();
    LogicalPlan plan = ((org.apache.spark.sql.classic.Dataset<Row>) rows).logicalPlan();
    CollectionConverters.asJava(plan.output()).forEach(a -> columns.put(a.name(), a));
    List<Column> selected = new ArrayList<>();
    for (Expression result : results) {
      Expression over =
          replace(
              result,
              e ->
                  e instanceof AggregateExpression call
                      ? columns.get(VALUE + places.get(call.resultId().id()))
                      : null);
      selected.add(ExpressionUtils.column(over));
    }
    return selected;
  }

  /** Whether what is kept of rows takes the same few bytes however many they are. */
  boolean isSmall() {
    return Arrays.stream(bufferTypes).allMatch(UnsafeRow::isFixedLength);
  }

  /** The functions ready to run in a task, which has one thread. */
  Task task() {
    return new Task();
  }

  /** The state of all functions over some rows. */
  static final class Buffer {
    private final GenericInternalRow row;
    private GenericInternalRow frozen;
    private long count;

    private Buffer(GenericInternalRow row) {
      this.row = row;
    }

    /** How many rows went into it. */
    long count() {
      return count;
    }
  }

  final class Task {
    private final ExpressionEncoder.Serializer<Row> reader =
        ExpressionEncoder.apply(rowType).createSerializer();
    private final ExpressionEncoder.Deserializer<Row> writer = deserializer(values);
    private final UnsafeProjection packer = packer(bufferTypes);

    /** Returns the time and the arguments, which a row begins with, until the next call. */
    InternalRow read(Row row) {
      return reader.apply(row);
    }

    /** Returns the buffer of no rows. */
    Buffer fresh() {
      Buffer buffer = new Buffer(new GenericInternalRow(bufferTypes.length));
      for (Function function : calls) function.initialize(buffer.row);
      return buffer;
    }

    /** Returns the buffer of one row. */
    Buffer of(InternalRow row) {
      Buffer buffer = fresh();
      add(buffer, row);
      return buffer;
    }

    /** Adds a row to a buffer that was fresh here; one that was kept takes rows by merging. */
    void add(Buffer buffer, InternalRow row) {
      for (Function function : calls) function.update(buffer.row, row);
      buffer.count++;
      buffer.frozen = null;
    }

    /** Adds to {@code into} the rows of {@code more}, which stays as it is. */
    void merge(Buffer into, Buffer more) {
      merge(into, freeze(more));
      into.count += more.count;
    }

    byte[] write(Buffer buffer) {
      Object[] all = Arrays.copyOf(freeze(buffer).values(), bufferTypes.length + 1);
      all[bufferTypes.length] = buffer.count;
      return packer.apply(new GenericInternalRow(all)).copy().getBytes();
    }

    Buffer read(byte[] bytes) {
      UnsafeRow kept = new UnsafeRow(bufferTypes.length + 1);
      kept.pointTo(bytes, bytes.length);
      Buffer buffer = fresh();
      for (Function function : calls) function.restore(buffer.row, kept);
      buffer.count = kept.getLong(bufferTypes.length);
      return buffer;
    }

    /** Returns the value of each function. */
    Row values(Buffer buffer) {
      Object[] found = new Object[calls.length];
      for (int i = 0; i < found.length; i++) found[i] = calls[i].value(buffer.row);
      return writer.apply(new GenericInternalRow(found));
    }

    private void merge(Buffer into, InternalRow more) {
      for (Function function : calls) function.merge(into.row, more);
      into.frozen = null;
    }

    private GenericInternalRow freeze(Buffer buffer) {
      if (buffer.frozen == null) {
        buffer.frozen = new GenericInternalRow(buffer.row.values().clone());
        for (Function function : calls) function.freeze(buffer.frozen);
      }
      return buffer.frozen;
    }
  }

  /** One aggregate function, bound to its place in the buffer. */
  private abstract static class Function implements Serializable {
    final int offset;
    private final Expression filter;

    Function(int offset, Expression filter) {
      this.offset = offset;
      this.filter = filter;
    }

    final void update(InternalRow buffer, InternalRow row) {
      if (filter == null || Boolean.TRUE.equals(filter.eval(row))) add(buffer, row);
    }

    abstract void initialize(InternalRow buffer);

    abstract void add(InternalRow buffer, InternalRow row);

    abstract void merge(InternalRow buffer, InternalRow more);

    /** Brings into an initialized buffer what was kept. */
    abstract void restore(InternalRow buffer, InternalRow kept);

    /** Makes of the function's objects in a buffer what can be kept and merged. */
    abstract void freeze(InternalRow buffer);

    abstract Object value(InternalRow buffer);
  }

  private static final class Declarative extends Function {
    private final Expression[] initial;
    private final Expression[] update;
    private final Expression[] merge;
    private final Expression value;
    private final DataType[] types;

    Declarative(
        DeclarativeAggregate function,
        int offset,
        Expression filter,
        List<Attribute> updating,
        List<Attribute> merging) {
      super(offset, filter);
      initial = array(function.initialValues());
      update = bind(function.updateExpressions(), updating);
      merge = bind(function.mergeExpressions(), merging);
      value = bind(function.evaluateExpression(), merging);
      types =
          CollectionConverters.asJava(function.aggBufferAttributes()).stream()
              .map(Attribute::dataType)
              .toArray(DataType[]::new);
    }

    @Override
    void initialize(InternalRow buffer) {
      assign(buffer, initial, buffer);
    }

    @Override
    void add(InternalRow buffer, InternalRow row) {
      assign(buffer, update, new JoinedRow(buffer, row));
    }

    @Override
    void merge(InternalRow buffer, InternalRow more) {
      assign(buffer, merge, new JoinedRow(buffer, more));
    }

    @Override
    void restore(InternalRow buffer, InternalRow kept) {
      for (int i = 0; i < types.length; i++) {
        buffer.update(offset + i, InternalRow.copyValue(kept.get(offset + i, types[i])));
      }
    }

    @Override
    void freeze(InternalRow buffer) {}

    @Override
    Object value(InternalRow buffer) {
      return value.eval(buffer);
    }

    private void assign(InternalRow buffer, Expression[] expressions, InternalRow from) {
      // All of them see the buffer as it was.
      Object[] next = new Object[expressions.length];
      for (int i = 0; i < next.length; i++) next[i] = expressions[i].eval(from);
      for (int i = 0; i < next.length; i++) {
        buffer.update(offset + i, InternalRow.copyValue(next[i]));
      }
    }
  }

  private static final class Imperative extends Function {
    private final ImperativeAggregate function;

    Imperative(
        ImperativeAggregate function,
        int offset,
        Expression filter,
        List<Attribute> input) {
      super(offset, filter);
      this.function =
          ((ImperativeAggregate) bind(function, input))
              .withNewMutableAggBufferOffset(offset)
              .withNewInputAggBufferOffset(offset);
    }

    @Override
    void initialize(InternalRow buffer) {
      function.initialize(buffer);
    }

    @Override
    void add(InternalRow buffer, InternalRow row) {
      function.update(buffer, row);
    }

    @Override
    void merge(InternalRow buffer, InternalRow more) {
      function.merge(buffer, more);
    }

    @Override
    void restore(InternalRow buffer, InternalRow kept) {
      function.merge(buffer, kept);
    }

    @Override
    void freeze(InternalRow buffer) {
      if (function instanceof TypedImperativeAggregate<?> typed) {
        typed.serializeAggregateBufferInPlace(buffer);
        // The bytes may be those that the function writes the next buffer into.
        if (!buffer.isNullAt(offset)) buffer.update(offset, buffer.getBinary(offset).clone());
      }
    }

    @Override
    Object value(InternalRow buffer) {
      return function.eval(buffer);
    }
  }

  static AnalysisException refusal(String sentence) {
    return new AnalysisException(
        sentence,
        Option.empty(),
        Option.empty(),
        Option.empty(),
        Option.empty(),
        scala.collection.immutable.Map$.MODULE$.empty(),
        new QueryContext[0]);
  }

  static ExpressionEncoder.Deserializer<Row> deserializer(StructType type) {
    List<Attribute> columns = new ArrayList<>();
    for (StructField field : type.fields()) columns.add(DataTypeUtils.toAttribute(field));
    return ExpressionEncoder.apply(type)
        .resolveAndBind(sequence(columns), ExpressionEncoder.apply(type).resolveAndBind$default$2())
        .createDeserializer();
  }

  /** Returns what packs values of {@code types}, then a count, into bytes. */
  static UnsafeProjection packer(DataType... types) {
    DataType[] all = Arrays.copyOf(types, types.length + 1);
    all[types.length] = DataTypes.LongType;
    return UnsafeProjection.create(all);
  }

  /** Returns the expression with each column as its place among {@code columns}. */
  static Expression bind(Expression expression, List<Attribute> columns) {
    return replace(
        expression,
        e -> {
          if (!(e instanceof AttributeReference)) return null;
          Attribute asked = (Attribute) e;
          for (int i = 0; i < columns.size(); i++) {
            if (columns.get(i).exprId().equals(asked.exprId())) {
              return new BoundReference(i, asked.dataType(), asked.nullable());
            }
          }
          throw new IllegalStateException("There is no " + asked + " among " + columns);
        });
  }

  static Expression[] bind(Seq<? extends Expression> expressions, List<Attribute> to) {
    Expression[] bound = array(expressions);
    for (int i = 0; i < bound.length; i++) bound[i] = bind(bound[i], to);
    return bound;
  }

  static <T> Seq<T> sequence(List<T> list) {
    return Vector$.MODULE$.from(CollectionConverters.asScala(list));
  }

  private static Expression[] array(Seq<? extends Expression> expressions) {
    return CollectionConverters.asJava(expressions).toArray(Expression[]::new);
  }

  private static List<Attribute> concat(List<Attribute> some, List<Attribute> more) {
    List<Attribute> all = new ArrayList<>(some);
    all.addAll(more);
    return all;
  }

  private static List<Expression> analyze(Dataset<Row> rows, JsonNode said)
      throws AnalysisException {
    List<Column> asked = new ArrayList<>();
    for (JsonNode result : said) {
      asked.add(functions.expr(result.get(1).asText()).as(result.get(0).asText()));
    }
    if (asked.isEmpty()) return List.of();
    Dataset<Row> all =
        rows.agg(asked.get(0), asked.subList(1, asked.size()).toArray(Column[]::new));
    LogicalPlan plan =
        ((org.apache.spark.sql.classic.Dataset<Row>) all).queryExecution().analyzed();
    if (!(plan instanceof Aggregate)) {
      throw refusal("A result can only be made of aggregate functions, such as sum(x).");
    }
    // What the optimizer would do to the functions themselves.
    Aggregate ready = (Aggregate) DecimalAggregates.apply(ReplaceExpressions.apply(plan));
    List<Expression> found = new ArrayList<>();
    for (NamedExpression result : CollectionConverters.asJava(ready.aggregateExpressions())) {
      found.add((Expression) result);
    }
    return found;
  }

  private static void find(Expression expression, Map<Long, AggregateExpression> found) {
    if (expression instanceof AggregateExpression call) {
      found.putIfAbsent(call.resultId().id(), call);
    } else {
      CollectionConverters.asJava(expression.children()).forEach(child -> find(child, found));
    }
  }

  /** Returns a function with each argument that is not constant replaced by a column. */
  private static Expression onColumns(
      Expression function, Map<Expression, AttributeReference> columns) {
    List<Expression> arguments = new ArrayList<>();
    for (Expression argument : CollectionConverters.asJava(function.children())) {
      if (argument.foldable()) arguments.add(argument);
      else if (argument instanceof SortOrder) arguments.add(onColumns(argument, columns));
      else arguments.add(column(argument, columns));
    }
    return function.withNewChildren(sequence(arguments));
  }

  private static Expression column(
      Expression expression, Map<Expression, AttributeReference> columns) {
    for (Map.Entry<Expression, AttributeReference> entry : columns.entrySet()) {
      if (entry.getKey().semanticEquals(expression)) return entry.getValue();
    }
    String name = ARGUMENT + columns.size();
    AttributeReference column =
        (AttributeReference)
            DataTypeUtils.toAttribute(new StructType().add(name, expression.dataType()).apply(0));
    columns.put(expression, column);
    return column;
  }

  /** Returns the tree with each node replaced for which {@code by} does not answer null. */
  private static Expression replace(Expression tree, UnaryOperator<Expression> by) {
    Expression replaced = by.apply(tree);
    if (replaced != null) return replaced;
    List<Expression> children = new ArrayList<>();
    CollectionConverters.asJava(tree.children()).forEach(c -> children.add(replace(c, by)));
    return children.isEmpty() ? tree : tree.withNewChildren(sequence(children));
  }
}
