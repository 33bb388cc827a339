package headrace;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryProgress;

/**
 * What a query's batches came to, for Python: texts that are fetched by one call. A row of a batch
 * is an array of what is told because of it, nulls among them.
 *
 * <p>A batch that Python takes itself costs a way there and back, and each report of Spark's some
 * fifty; a rehearsal is many small batches.
 */
public final class Told implements VoidFunction2<Dataset<Row>, Long> {
  private static final ObjectMapper JSON = new ObjectMapper();
  // Of what is told of a step's row: the step, the row, and a record's topic, key and headers.
  private static final int COLUMNS = 5;

  private ArrayNode rows = JSON.createArrayNode();

  @Override
  public void call(Dataset<Row> batch, Long number) {
    ArrayNode come = JSON.createArrayNode();
    for (InternalRow row : collected(batch)) {
      ArrayData told = row.getArray(0);
      for (int i = 0; i < told.numElements(); i++) {
        if (!told.isNullAt(i)) add(come, told.getStruct(i, COLUMNS), COLUMNS);
      }
    }
    synchronized (this) {
      rows.addAll(come);
    }
  }

  /** Returns, as a JSON array, the rows since the last call: each an array of texts and nulls. */
  public synchronized String taken() {
    String told = rows.toString();
    rows = JSON.createArrayNode();
    return told;
  }

  /** Returns the rows of text columns as {@link #taken} does. */
  public static String rows(Dataset<Row> texts) {
    ArrayNode found = JSON.createArrayNode();
    for (InternalRow row : collected(texts)) add(found, row, row.numFields());
    return found.toString();
  }

  /** Returns, as a JSON array, Spark's reports of the batches after one. */
  public static String reports(StreamingQuery query, long after) {
    List<String> found = new ArrayList<>();
    for (StreamingQueryProgress progress : query.recentProgress()) {
      if (progress.batchId() > after) found.add(progress.json());
    }
    return "[" + String.join(",", found) + "]";
  }

  private static InternalRow[] collected(Dataset<Row> rows) {
    var execution = ((org.apache.spark.sql.classic.Dataset<Row>) rows).queryExecution();
    return execution.executedPlan().executeCollect();
  }

  private static void add(ArrayNode rows, InternalRow row, int columns) {
    ArrayNode told = rows.addArray();
    for (int i = 0; i < columns; i++) {
      told.add(row.isNullAt(i) ? null : row.getUTF8String(i).toString());
    }
  }
}
