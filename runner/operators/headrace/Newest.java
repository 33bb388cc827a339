package headrace;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.ValueState;

/**
 * The newest row of each key as the state has it, those of the last keys in memory, too.
 *
 * <p>In real-time mode a batch lasts for minutes, and every row on its own would look into the
 * state store and make a row of what is there. Spark makes a processor anew for each task of each
 * batch, and nobody else writes the state of its keys meanwhile, so what is in memory is what is
 * kept. Spark's own aggregation does the same there ({@code
 * StatefulStreamlineAggregationProcessor}).
 */
final class Newest {
  /** How many keys, those without a row among them, are in memory: rows may be large. */
  private static final int KEYS = 1_000;

  private final ValueState<Row> state;
  private final Map<List<Object>, Row> last =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<List<Object>, Row> eldest) {
          return size() > KEYS;
        }
      };

  Newest(ValueState<Row> state) {
    this.state = state;
  }

  /** Returns the row of the key whose turn it is, null where it has none. */
  Row get(Row key) {
    List<Object> name = name(key);
    Row row = last.get(name);
    if (row == null && !last.containsKey(name)) {
      row = state.get();
      last.put(name, row);
    }
    return row;
  }

  void update(Row key, Row row) {
    state.update(row);
    last.put(name(key), row);
  }

  void clear(Row key) {
    state.clear();
    last.put(name(key), null);
  }

  /** Returns what equals the name of the same key only; as rows 0.0 and -0.0 would be one. */
  private static List<Object> name(Row key) {
    List<Object> values = new ArrayList<>(key.size());
    for (int i = 0; i < key.size(); i++) values.add(key.get(i));
    return values;
  }
}
