package headrace;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * How rows of a table are read: what tells a repeat, and what a deletion.
 *
 * <p>Options: {@code deleted} (a boolean column, or null), {@code lane}, {@code version}.
 */
final class Table implements Serializable {
  final Identity identity;
  private final int deleted;

  Table(StructType type, JsonNode options) {
    identity =
        new Identity(
            type,
            Operator.names(options.get("lane")),
            Operator.names(options.get("version")));
    deleted = options.hasNonNull("deleted") ? type.fieldIndex(options.get("deleted").asText()) : -1;
  }

  boolean deletes(Row row) {
    return deleted >= 0 && !row.isNullAt(deleted) && row.getBoolean(deleted);
  }
}
