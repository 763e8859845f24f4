import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.github.shyiko.mysql.binlog.event.DeleteRowsEventData;
import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.event.EventData;
import com.github.shyiko.mysql.binlog.event.EventHeaderV4;
import com.github.shyiko.mysql.binlog.event.EventType;
import com.github.shyiko.mysql.binlog.event.UpdateRowsEventData;
import com.github.shyiko.mysql.binlog.event.WriteRowsEventData;
import com.zendesk.maxwell.producer.MaxwellOutputConfig;
import com.zendesk.maxwell.replication.BinlogConnectorEvent;
import com.zendesk.maxwell.replication.BinlogPosition;
import com.zendesk.maxwell.replication.Position;
import com.zendesk.maxwell.row.RowMap;
import com.zendesk.maxwell.schema.Table;
import com.zendesk.maxwell.schema.columndef.ColumnDef;
import com.zendesk.maxwell.schema.ddl.DDLMap;
import com.zendesk.maxwell.schema.ddl.ResolvedDatabaseAlter;
import com.zendesk.maxwell.schema.ddl.ResolvedDatabaseCreate;
import com.zendesk.maxwell.schema.ddl.ResolvedSchemaChange;
import com.zendesk.maxwell.schema.ddl.ResolvedTableAlter;
import com.zendesk.maxwell.schema.ddl.ResolvedTableCreate;
import com.zendesk.maxwell.schema.ddl.ResolvedTableDrop;
import java.io.Serializable;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.AbstractMap.SimpleEntry;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Prints vectors whose values were written by Maxwell's own classes: see README.md beside this file. A row comes as the event of a binlog
 * that Maxwell's client reads, and goes through its own column definitions, its RowMap and its output options.
 */
public class WriteMaxwellVectors {
  static final String VERSION = "1.45.0 (b600e51)";
  static final long AT_MS = 1723115239000L;
  static final long AT_US = Instant.parse("2024-02-29T12:00:00.123456Z").getEpochSecond() * 1_000_000 + 123456;
  static final String GTID = "3E11FA47-71CA-11E1-9E33-C80AA9429562:23";
  static final ObjectMapper JSON = new ObjectMapper().configure(JsonParser.Feature.ALLOW_SINGLE_QUOTES, true);

  /** One column, its value in the binlog (another one before an update), and what its JSON must be read as. */
  record Column(ColumnDef def, Serializable value, Serializable old, String means, String oldMeans) {}

  /** The output options in force, and what they add to where the change stands. */
  record Options(String title, MaxwellOutputConfig config, boolean isFull, boolean isCamel) {}

  public static void main(String[] args) throws Exception {
    for (Options options : List.of(plain(), full(), camelCase())) {
      boolean isPlain = options.title.isEmpty();
      printRow("insert", options, RowMap.KeyFormat.HASH, true);
      printRow("update", options, RowMap.KeyFormat.HASH, false);
      if (!options.isCamel) {
        printRow("delete", options, isPlain ? RowMap.KeyFormat.ARRAY : RowMap.KeyFormat.HASH, false);
      }
    }
    printWithoutKey();
    printWithoutNulls();
    printBootstrap();
    printSchemaChanges();
  }

  static Options plain() {
    return new Options("", new MaxwellOutputConfig(), false, false);
  }

  static Options full() {
    MaxwellOutputConfig config = new MaxwellOutputConfig();
    config.includesBinlogPosition = true;
    config.includesGtidPosition = true;
    config.includesXOffset = true;
    config.includesServerId = true;
    config.includesThreadId = true;
    config.includesSchemaId = true;
    config.includesRowQuery = true;
    config.includesPrimaryKeys = true;
    config.includesPrimaryKeyColumns = true;
    config.includesPushTimestamp = true;
    config.outputDDL = true;
    return new Options(", all that it can say", config, true, false);
  }

  static Options camelCase() {
    MaxwellOutputConfig config = full().config;
    config.namingStrategy = "underscore_to_camelcase";
    return new Options(", its names in camel case", config, true, true);
  }

  static Column column(String name, String type, boolean signed, String[] members, Long length, Serializable value, String means) {
    short place = 0;
    return new Column(ColumnDef.build(name, "utf8mb4", type, place, signed, members, length), value, value, means, means);
  }

  static Column column(String name, String type, Serializable value, String means) {
    return column(name, type, true, null, null, value, means);
  }

  static Column changed(Column column, Serializable old, String oldMeans) {
    return new Column(column.def, column.value, old, column.means, oldMeans);
  }

  static List<Column> columns() {
    BitSet bits = new BitSet();
    bits.set(0);
    bits.set(3);
    String[] members = {"a", "b", "c"};
    return List.of(
        column("orderId", "bigint", 9007199254740993L, "{'$bigint':'9007199254740993'}"),
        column("part_no", "varchar", "x-1".getBytes(StandardCharsets.UTF_8), "'x-1'"),
        changed(column("full_name", "varchar", "Anne 🎉".getBytes(StandardCharsets.UTF_8), "'Anne 🎉'"), "Ann".getBytes(StandardCharsets.UTF_8), "'Ann'"),
        changed(column("price", "decimal", new BigDecimal("12.30"), "12.3"), new BigDecimal("9.99"), "9.99"),
        column("exact", "decimal", new BigDecimal("12345678901234567890.125"), "12345678901234567000"),
        column("unsigned_tiny", "tinyint", false, null, null, -1, "255"),
        column("unsigned_big", "bigint", false, null, null, -1L, "{'$bigint':'18446744073709551615'}"),
        column("ratio", "double", 0.1, "0.1"),
        column("small_ratio", "float", 0.5f, "0.5"),
        column("day", "date", AT_US, "'2024-02-29'"),
        column("no_day", "date", Long.MIN_VALUE, "'0000-00-00'"),
        column("at", "datetime", true, null, 6L, AT_US, "'2024-02-29 12:00:00.123456'"),
        column("seen", "timestamp", true, null, 3L, AT_US, "'2024-02-29 12:00:00.123'"),
        column("clock", "time", true, null, null, 43_200_000_000L, "'12:00:00'"),
        column("since", "year", 2024, "2024"),
        column("kind", "enum", true, members, null, 2, "'b'"),
        column("options", "set", true, members, null, 5L, "['a','c']"),
        column("flags", "bit", bits, "9"),
        column("bytes", "blob", new byte[] {0, (byte) 255, 16}, "'AP8Q'"),
        column("place", "point", point(), "'POINT (1 2)'"),
        column("doc", "json", "{\"n\": [1, {\"big\": 9007199254740993}], \"s\": null}", "{'n':[1,{'big':{'$bigint':'9007199254740993'}}],'s':null}"),
        changed(column("nothing", "int", null, "null"), 7, "7"));
  }

  /** As MySQL stores one: four bytes of the reference system, then well-known binary. */
  static byte[] point() {
    return ByteBuffer.allocate(25).order(ByteOrder.LITTLE_ENDIAN).putInt(0).put((byte) 1).putInt(1).putDouble(1).putDouble(2).array();
  }

  static Table table(List<Column> columns, List<String> keys) {
    List<ColumnDef> defs = new ArrayList<>();
    for (Column column : columns) {
      defs.add(column.def);
    }
    return new Table("shop", "orders", "utf8mb4", defs, keys);
  }

  /** What Maxwell makes of an event of the binlog, and what its replicator tells the row then. */
  static RowMap rowMap(String type, List<Column> columns, List<String> keys, MaxwellOutputConfig config, boolean isLast) throws Exception {
    Serializable[] now = columns.stream().map(Column::value).toArray(Serializable[]::new);
    Serializable[] old = columns.stream().map(Column::old).toArray(Serializable[]::new);
    BitSet all = new BitSet();
    all.set(0, columns.size());
    EventHeaderV4 header = new EventHeaderV4();
    header.setTimestamp(AT_MS);
    header.setServerId(223344);
    header.setNextPosition(900);
    header.setEventLength(100);
    header.setEventType(type.equals("insert") ? EventType.EXT_WRITE_ROWS : type.equals("update") ? EventType.EXT_UPDATE_ROWS : EventType.EXT_DELETE_ROWS);
    Event event = new Event(header, data(type, all, now, old));
    RowMap row = new BinlogConnectorEvent(event, "mysql-bin.000003", null, GTID, config).jsonMaps(table(columns, keys), 0L, "update orders set 1").get(0);
    row.setXid(9001L);
    row.setXoffset(4L);
    row.setServerId(223344L);
    row.setThreadId(8L);
    row.setSchemaId(2L);
    if (isLast) {
      row.setTXCommit();
    }
    return row;
  }

  static EventData data(String type, BitSet all, Serializable[] now, Serializable[] old) {
    if (type.equals("insert")) {
      WriteRowsEventData data = new WriteRowsEventData();
      data.setIncludedColumns(all);
      data.setRows(List.<Serializable[]>of(now));
      return data;
    }
    if (type.equals("delete")) {
      DeleteRowsEventData data = new DeleteRowsEventData();
      data.setIncludedColumns(all);
      data.setRows(List.<Serializable[]>of(now));
      return data;
    }
    UpdateRowsEventData data = new UpdateRowsEventData();
    data.setIncludedColumns(all);
    data.setIncludedColumnsBeforeUpdate(all);
    data.setRows(List.<Map.Entry<Serializable[], Serializable[]>>of(new SimpleEntry<>(old, now)));
    return data;
  }

  static void printRow(String type, Options options, RowMap.KeyFormat keyFormat, boolean isLast) throws Exception {
    List<String> keys = List.of("orderId", "part_no");
    RowMap row = rowMap(type, columns(), keys, options.config, isLast);
    String lossy = type.equals("insert") ? ", its decimals JSON's numbers" : "";
    print("Maxwell: " + type + options.title + lossy, row.pkToJson(keyFormat), row.toJSON(options.config), event -> {
      event.put("kind", "change").put("op", type.equals("insert") ? "create" : type);
      event.putObject("table").put("database", "shop").put("name", "orders");
      ObjectNode now = means(columns(), options.isCamel, false);
      event.set("before", type.equals("update") ? means(columns(), options.isCamel, true) : type.equals("delete") ? now : null);
      event.set("after", type.equals("delete") ? null : now);
      ObjectNode key = event.putObject("key");
      String partNo = options.isCamel ? "partNo" : "part_no";
      key.set(options.isFull ? "orderId" : "orderid", now.get("orderId")); // the record's key has its columns in lower case
      key.set(options.isFull ? partNo : "part_no", now.get(partNo));
      if (!isLast && options.isFull) {
        ObjectNode transaction = event.putObject("transaction").put("id", "9001");
        transaction.putObject("totalOrder").put("$bigint", "5");
        transaction.putObject("dataCollectionOrder").put("$bigint", "0");
      }
      source(event, options, isLast);
    });
  }

  static void source(ObjectNode event, Options options, boolean isLast) {
    ObjectNode source = event.putObject("source").put("connector", "mysql").put("snapshot", false).put("tsMs", AT_MS);
    ObjectNode position = source.putObject("position").put("xid", 9001);
    if (isLast) {
      position.put("commit", true);
    }
    if (options.isFull) {
      position.put("file", "mysql-bin.000003").put("pos", 800).put("gtid", GTID).put("server_id", 223344).put("thread_id", 8).put("schema_id", 2)
          .put("query", "update orders set 1");
      if (!isLast) {
        position.put("xoffset", 4);
      }
    }
  }

  static ObjectNode means(List<Column> columns, boolean isCamel, boolean isOld) {
    ObjectNode row = JSON.createObjectNode();
    for (Column column : columns) {
      row.set(isCamel ? camel(column.def.getName()) : column.def.getName(), parsed(isOld ? column.oldMeans : column.means));
    }
    return row;
  }

  static String camel(String name) {
    StringBuilder camel = new StringBuilder();
    for (String part : name.split("_")) {
      camel.append(camel.isEmpty() ? part : Character.toUpperCase(part.charAt(0)) + part.substring(1));
    }
    return camel.toString();
  }

  static JsonNode parsed(String json) {
    try {
      return JSON.readTree(json);
    } catch (Exception failure) {
      throw new IllegalArgumentException(json, failure);
    }
  }

  /** A table without a primary key: the record's key is a random one, and says nothing of the row. */
  static void printWithoutKey() throws Exception {
    List<Column> columns = List.of(column("note", "varchar", "x".getBytes(StandardCharsets.UTF_8), "'x'"));
    RowMap row = rowMap("insert", columns, List.of(), new MaxwellOutputConfig(), true);
    String key = row.pkToJson(RowMap.KeyFormat.HASH);
    print("Maxwell: insert into a table without a key", key, row.toJSON(new MaxwellOutputConfig()), event -> {
      event.put("kind", "change").put("op", "create");
      event.set("key", parsed(key));
      event.set("after", parsed("{'note':'x'}"));
    });
  }

  /** Without nulls and some columns: what is absent is not known to be null. */
  static void printWithoutNulls() throws Exception {
    MaxwellOutputConfig config = new MaxwellOutputConfig();
    config.includesNulls = false;
    config.includesCommitInfo = false;
    config.zeroDatesAsNull = true;
    List<Column> columns = columns().stream().filter(one -> Set.of("orderId", "full_name", "no_day", "nothing").contains(one.def.getName())).toList();
    RowMap row = rowMap("insert", columns, List.of("orderId"), config, true);
    print("Maxwell: insert, without its nulls", row.pkToJson(RowMap.KeyFormat.HASH), row.toJSON(config), event -> {
      event.put("kind", "change").put("op", "create").set("after", parsed("{'orderId':{'$bigint':'9007199254740993'},'full_name':'Anne 🎉'}"));
      event.putNull("transaction");
      event.putObject("source").putObject("position");
    });
  }

  /** As its bootstrapper makes them: no position, and a comment where the task has one. */
  static void printBootstrap() throws Exception {
    for (String type : List.of("bootstrap-start", "bootstrap-insert", "bootstrap-complete")) {
      List<String> keys = type.equals("bootstrap-complete") ? List.of() : List.of("id");
      RowMap row = new RowMap(type, "shop", "orders", AT_MS, keys, null);
      row.setComment("first load");
      if (type.equals("bootstrap-insert")) {
        row.putData("id", 7L);
        row.putData("v", "x");
      }
      String value = row.toJSON(new MaxwellOutputConfig());
      print("Maxwell: " + type, row.pkToJson(RowMap.KeyFormat.HASH), value, event -> {
        if (type.equals("bootstrap-insert")) {
          event.put("kind", "change").put("op", "read").set("after", parsed("{'id':7,'v':'x'}"));
          event.set("key", parsed("{'id':7}"));
          event.putObject("source").put("snapshot", "true").put("tsMs", AT_MS).putObject("position").put("comment", "first load");
        } else {
          event.put("kind", "unknown").set("value", parsed(value));
        }
      });
    }
  }

  static void printSchemaChanges() throws Exception {
    Table before = table(columns().subList(0, 2), List.of("orderId"));
    Table after = table(columns().subList(0, 3), List.of("orderId"));
    printSchemaChange(new ResolvedTableCreate(after), "create table orders (orderId bigint primary key)", "CREATE");
    printSchemaChange(new ResolvedTableAlter("shop", "orders", before, after), "alter table orders add full_name varchar(9)", "ALTER");
    printSchemaChange(new ResolvedTableDrop("shop", "orders"), "drop table orders", "DROP");
    printSchemaChange(new ResolvedDatabaseCreate("shop", "utf8mb4"), "create database shop", null);
    printSchemaChange(new ResolvedDatabaseAlter("shop", "latin1"), "alter database shop charset latin1", null);
  }

  static void printSchemaChange(ResolvedSchemaChange change, String sql, String type) throws Exception {
    Position position = new Position(new BinlogPosition(null, GTID, 800, "mysql-bin.000003"), 0L);
    DDLMap ddl = new DDLMap(change, AT_MS, sql, position, position, 2L);
    JsonNode def = JSON.valueToTree(ddl.getChangeMap().get("def"));
    String key = ddl.pkToJson(RowMap.KeyFormat.HASH);
    print("Maxwell: " + sql, key, ddl.toJSON(full().config), event -> {
      event.put("kind", "schema-change").put("ddl", sql).put("database", "shop").put("tsMs", AT_MS).put("key", key);
      ArrayNode tables = event.putArray("tables");
      if (type != null) {
        tables.addObject().put("type", type).put("id", "\"shop\".\"orders\"").set("table", def);
      }
      event.putObject("source").put("tsMs", AT_MS).putObject("position").put("file", "mysql-bin.000003").put("pos", 800).put("gtid", GTID).put("schema_id", 2);
    });
  }

  static void print(String name, String key, String value, Consumer<ObjectNode> meaning) throws Exception {
    ObjectNode line = JSON.createObjectNode();
    line.put("name", name).put("from", "github.com/zendesk/maxwell at b600e51").put("writtenBy", "Maxwell " + VERSION).put("formats", "none+json+maxwell");
    line.put("keyFormats", key.startsWith("{") || key.startsWith("[") ? "none+json" : "none+text").put("topic", "maxwell").put("key", key).put("value", value);
    meaning.accept(line.putObject("event"));
    JsonNode pushed = JSON.readTree(value).findValue(value.contains("pushTs") ? "pushTs" : "push_ts");
    if (pushed != null) {
      line.withObject("/event").put("tsMs", Math.round(pushed.asDouble() * 1000));
    }
    System.out.println(JSON.writeValueAsString(line));
  }
}
