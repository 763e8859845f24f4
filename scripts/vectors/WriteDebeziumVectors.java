import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpServer;
import io.debezium.config.CommonConnectorConfig;
import io.debezium.config.Configuration;
import io.debezium.connector.AbstractSourceInfo;
import io.debezium.connector.SnapshotRecord;
import io.debezium.connector.common.BaseSourceInfo;
import io.debezium.converters.CloudEventsConverter;
import io.debezium.data.Envelope;
import io.debezium.relational.TableId;
import io.debezium.schema.SchemaFactory;
import io.debezium.time.Date;
import io.debezium.time.ZonedTimestamp;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.storage.Converter;

/**
 * Prints vectors whose values were written by Debezium's own classes: see README.md beside this file. What a connector says of its source
 * comes out of its own SourceInfo, which this program sets as the connector does, by reflection where it is the package's own.
 */
public class WriteDebeziumVectors {
  static final String VERSION = "3.5.0.Final";
  static final Instant AT = Instant.parse("2024-08-08T11:07:19.782690123Z");
  static final Instant SENT = Instant.parse("2024-08-08T11:07:20.000001002Z");
  static final ObjectMapper JSON = new ObjectMapper();
  static final Map<Integer, String> SCHEMAS = new HashMap<>();
  static String registryUrl;

  public static void main(String[] args) throws Exception {
    HttpServer registry = startRegistry();
    try {
      if (args[0].equals("sources")) {
        Sources.print();
      } else {
        Events.print();
      }
    } finally {
      registry.stop(0);
    }
  }

  /** The one call of Apicurio's API that its serializer makes: register a schema, be told its id. */
  static HttpServer startRegistry() throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> {
      String schema = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      int id = SCHEMAS.size() + 1;
      for (Map.Entry<Integer, String> known : SCHEMAS.entrySet()) {
        id = known.getValue().equals(schema) ? known.getKey() : id;
      }
      SCHEMAS.put(id, schema);
      byte[] answer = ("{\"id\":\"a\",\"version\":\"1\",\"type\":\"AVRO\",\"state\":\"ENABLED\",\"globalId\":" + id + ",\"contentId\":" + id + "}")
          .getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().add("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, answer.length);
      exchange.getResponseBody().write(answer);
      exchange.close();
    });
    server.start();
    registryUrl = "http://127.0.0.1:" + server.getAddress().getPort() + "/apis/registry/v2";
    return server;
  }

  static Map<String, String> registrySettings(String prefix) {
    return Map.of(prefix + "apicurio.registry.url", registryUrl, prefix + "apicurio.registry.auto-register", "true",
        prefix + "apicurio.registry.as-confluent", "true", prefix + "apicurio.registry.use-id", "contentId",
        prefix + "apicurio.registry.headers.enabled", "false");
  }

  static Converter json(boolean withSchemas) {
    JsonConverter converter = new JsonConverter();
    converter.configure(Map.of("schemas.enable", String.valueOf(withSchemas)), false);
    return converter;
  }

  static Converter avro() {
    io.apicurio.registry.utils.converter.AvroConverter<?> converter = new io.apicurio.registry.utils.converter.AvroConverter<>();
    converter.configure(registrySettings(""), false);
    return converter;
  }

  /** A connector's source of one change: its own config, its own SourceInfo, told where the change stands. */
  interface Told {
    void tell(AbstractSourceInfo info, int change) throws Exception;
  }

  record Connector(String title, String packageName, String configName, String table, Map<String, String> settings, Told told) {
    CommonConnectorConfig config() throws Exception {
      Map<String, String> all = new HashMap<>(settings);
      all.put("topic.prefix", "srv");
      all.put("connector.class", "io.debezium.connector");
      Class<?> type = Class.forName("io.debezium.connector." + packageName + "." + configName);
      return (CommonConnectorConfig) type.getConstructor(Configuration.class).newInstance(Configuration.from(all));
    }

    Struct source(int change, boolean fromSnapshot) throws Exception {
      CommonConnectorConfig config = config();
      Constructor<?> constructor = Class.forName("io.debezium.connector." + packageName
          + (packageName.equals("spanner") ? ".context.source.SourceInfo" : ".SourceInfo")).getDeclaredConstructors()[0];
      constructor.setAccessible(true);
      boolean isSpanner = packageName.equals("spanner");
      BaseSourceInfo info = (BaseSourceInfo) (isSpanner ? constructor.newInstance(Connectors.spanner(config, change)) : constructor.newInstance(config));
      told.tell(info, change);
      info.setSnapshot(fromSnapshot ? SnapshotRecord.TRUE : SnapshotRecord.FALSE);
      return info.struct();
    }
  }

  /** Calls a method by its name, whoever may: connectors keep most of them to themselves. */
  static Object call(Object target, String name, Object... values) throws Exception {
    for (Class<?> type = target.getClass(); type != null; type = type.getSuperclass()) {
      for (Method method : type.getDeclaredMethods()) {
        if (method.getName().equals(name) && accepts(method, values)) {
          method.setAccessible(true);
          try {
            return method.invoke(target, values);
          } catch (InvocationTargetException failure) {
            throw new IllegalStateException(name, failure.getCause());
          }
        }
      }
    }
    throw new NoSuchMethodException(target.getClass() + "." + name);
  }

  static boolean accepts(Method method, Object[] values) {
    Class<?>[] types = method.getParameterTypes();
    boolean fits = types.length == values.length;
    for (int i = 0; fits && i < types.length; i++) {
      fits = types[i].isPrimitive() || values[i] == null || types[i].isInstance(values[i]);
    }
    return fits;
  }

  static Schema rowSchema(String name) {
    return SchemaBuilder.struct().optional().name(name)
        .field("id", Schema.INT64_SCHEMA)
        .field("v", Schema.OPTIONAL_STRING_SCHEMA)
        .field("price", Decimal.builder(2).optional().parameter("connect.decimal.precision", "10").build())
        .field("day", Date.builder().optional().build())
        .field("at", ZonedTimestamp.builder().optional().build())
        .build();
  }

  static Struct row(Schema schema, String v) {
    return new Struct(schema).put("id", 9007199254740993L).put("v", v).put("price", new BigDecimal("12.30")).put("day", 19782)
        .put("at", "2024-02-29T12:00:00.5Z");
  }

  static ObjectNode rowMeans(String v) {
    ObjectNode row = JSON.createObjectNode();
    row.set("id", tagged("$bigint", "9007199254740993"));
    row.put("v", v).put("price", "12.30").put("day", "2024-02-29").put("at", "2024-02-29T12:00:00.5Z");
    return row;
  }

  static ObjectNode tagged(String tag, String text) {
    return JSON.createObjectNode().put(tag, text);
  }

  static Envelope envelopeOf(String topic, Schema row, Schema source) {
    return SchemaFactory.get().datatypeEnvelopeSchema().withName(Envelope.schemaName(topic)).withRecord(row).withSource(source).build();
  }

  /** Fields of a source block that say something else than where in the log a change stands. */
  static final Set<String> NOT_POSITION = Set.of("version", "connector", "name", "ts_ms", "ts_us", "ts_ns", "snapshot", "db", "schema", "table",
      "collection", "keyspace");

  static ObjectNode positionOf(Struct source) {
    ObjectNode position = JSON.createObjectNode();
    for (Field field : source.schema().fields()) {
      if (!NOT_POSITION.contains(field.name())) {
        put(position, field.name(), source.get(field));
      }
    }
    return position;
  }

  static void put(ObjectNode node, String name, Object value) {
    if (value instanceof Long number) {
      node.set(name, wholeNumber(number));
    } else {
      node.set(name, JSON.valueToTree(value));
    }
  }

  static com.fasterxml.jackson.databind.JsonNode wholeNumber(long number) {
    return Math.abs(number) < 1L << 53 ? JSON.getNodeFactory().numberNode(number) : tagged("$bigint", BigInteger.valueOf(number).toString());
  }

  static ObjectNode sourceMeans(Struct source) {
    ObjectNode means = JSON.createObjectNode();
    means.put("connector", source.getString("connector")).put("name", source.getString("name")).put("version", source.getString("version"));
    means.put("tsMs", source.getInt64("ts_ms"));
    put(means, "tsUs", source.getInt64("ts_us"));
    means.set("tsNs", tagged("$bigint", String.valueOf(source.getInt64("ts_ns"))));
    means.set("position", positionOf(source));
    return means;
  }

  static ObjectNode line(String name, String from, String formats, String topic, byte[] value) throws Exception {
    ObjectNode line = JSON.createObjectNode();
    line.put("name", name).put("from", from).put("writtenBy", "Debezium " + VERSION).put("formats", formats).put("topic", topic);
    if (formats.contains("avro")) {
      putSchemas(line);
    }
    if (formats.startsWith("none")) {
      line.put("value", new String(value, StandardCharsets.UTF_8));
    } else {
      line.putObject("value").put("base64", Base64.getEncoder().encodeToString(value));
    }
    return line;
  }

  static void putSchemas(ObjectNode line) throws Exception {
    ArrayNode schemas = line.putArray("schemas");
    for (Map.Entry<Integer, String> schema : SCHEMAS.entrySet()) {
      schemas.addObject().put("id", schema.getKey()).set("schema", JSON.readTree(schema.getValue()));
    }
  }

  static ObjectNode tableOf(Struct source) {
    ObjectNode table = JSON.createObjectNode();
    if (source.schema().field("keyspace") != null) {
      table.put("database", source.getString("keyspace"));
    } else if (source.getString("db") != null) {
      table.put("database", source.getString("db"));
    }
    if (source.schema().field("schema") != null) {
      table.put("schema", source.getString("schema"));
    }
    return table.put("name", "orders");
  }

  /** Every connector's source block, in changes of each kind. */
  static class Sources {
    static void print() throws Exception {
      for (Connector connector : Connectors.all()) {
        printChanges(connector);
      }
    }

    static void printChanges(Connector connector) throws Exception {
      change(connector, "c", 1, json(false), "none+json+debezium");
      change(connector, "u", 2, json(true), "none+connect-json+debezium");
      SCHEMAS.clear();
      change(connector, "u", 3, avro(), "confluent+avro+debezium");
      change(connector, "d", 4, json(false), "none+json+debezium");
      change(connector, "r", 5, json(false), "none+json+debezium");
    }

    static void change(Connector connector, String op, int number, Converter converter, String formats) throws Exception {
      Struct source = connector.source(number, op.equals("r"));
      String topic = "srv." + connector.table;
      Schema row = rowSchema(topic + ".Value");
      Envelope envelope = envelopeOf(topic, row, source.schema());
      Struct value = valueOf(envelope, op, row, source);
      byte[] bytes = converter.fromConnectData(topic, envelope.schema(), value);
      String from = "io.debezium:debezium-connector-" + connector.packageName + ":" + VERSION;
      boolean isPlain = formats.startsWith("none+json");
      ObjectNode line = line(connector.title + ": " + op + (isPlain ? "" : ", " + formats), from, formats, topic, bytes);
      line.set("event", meaning(connector, op, source, isPlain));
      System.out.println(JSON.writeValueAsString(line));
    }

    static ObjectNode meaning(Connector connector, String op, Struct source, boolean isPlain) {
      ObjectNode event = JSON.createObjectNode().put("kind", "change").put("op", OPS.get(op)).put("tsMs", SENT.toEpochMilli());
      event.set("table", tableOf(source));
      if (!isPlain) {
        event.set("before", op.equals("c") ? null : rowMeans("old"));
        event.set("after", rowMeans("new"));
      }
      ObjectNode means = sourceMeans(source);
      if (op.equals("r")) {
        means.put("snapshot", "true");
      } else {
        means.put("snapshot", false);
      }
      event.set("source", means);
      return event;
    }
  }

  static final Map<String, String> OPS = Map.of("c", "create", "u", "update", "d", "delete", "r", "read");

  static Struct valueOf(Envelope envelope, String op, Schema row, Struct source) {
    return switch (op) {
      case "c" -> envelope.create(row(row, "new"), source, SENT);
      case "u" -> envelope.update(row(row, "old"), row(row, "new"), source, SENT);
      case "d" -> envelope.delete(row(row, "old"), source, SENT);
      default -> envelope.read(row(row, "new"), source, SENT);
    };
  }

  /** What Debezium's CloudEventsConverter makes of changes. */
  static class Events {
    static final String FROM = "io.debezium:debezium-connect-plugins:" + VERSION + ", CloudEventsConverter";

    static void print() throws Exception {
      for (Connector connector : Connectors.all().subList(0, 4)) {
        change(connector, "c", "JSON in JSON", Map.of("json.schemas.enable", "false"), "none+json+cloudevents");
        change(connector, "u", "JSON with schema in JSON", Map.of(), "none+json+cloudevents");
      }
      for (Connector connector : Connectors.all().subList(0, 2)) {
        change(connector, "d", "Avro in JSON", withRegistry("data.serializer.type", "avro"), "none+json+cloudevents");
        change(connector, "u", "Avro in Avro", withRegistry("data.serializer.type", "avro", "serializer.type", "avro",
            "schema.name.adjustment.mode", "avro"), "confluent+avro+cloudevents");
        change(connector, "r", "a row of a snapshot", Map.of("json.schemas.enable", "true"), "none+json+cloudevents");
        change(connector, "u", "without extension attributes", Map.of("extension.attributes.enable", "false"), "none+json+cloudevents");
        flattened(connector, "c");
        flattened(connector, "u");
      }
    }

    static Map<String, String> withRegistry(String... settings) {
      Map<String, String> all = new HashMap<>(registrySettings("avro."));
      for (int i = 0; i < settings.length; i += 2) {
        all.put(settings[i], settings[i + 1]);
      }
      return all;
    }

    static CloudEventsConverter converter(Map<String, String> settings) {
      SCHEMAS.clear();
      CloudEventsConverter converter = new CloudEventsConverter();
      converter.configure(settings, false);
      return converter;
    }

    static void change(Connector connector, String op, String title, Map<String, String> settings, String formats) throws Exception {
      Struct source = connector.source(1, op.equals("r"));
      String topic = "srv." + connector.table;
      Schema row = rowSchema(topic + ".Value");
      Envelope envelope = envelopeOf(topic, row, source.schema());
      Struct value = valueOf(envelope, op, row, source).put("transaction", transaction());
      byte[] bytes = converter(settings).fromConnectData(topic, new RecordHeaders(), envelope.schema(), value);
      print(connector, op, title, formats, source, topic, bytes, !settings.getOrDefault("extension.attributes.enable", "").equals("false"),
          !"false".equals(settings.get("json.schemas.enable")), true);
    }

    /** The row alone, as ExtractNewRecordState leaves it; what was beside it stands in headers, as HeaderFrom puts it there. */
    static void flattened(Connector connector, String op) throws Exception {
      Struct source = connector.source(1, false);
      String topic = "srv." + connector.table;
      Schema row = rowSchema(topic + ".Value");
      JsonConverter header = new JsonConverter();
      header.configure(Map.of("schemas.enable", "true", "converter.type", "header"));
      RecordHeaders headers = new RecordHeaders();
      headers.add("source", header.fromConnectHeader(topic, "source", source.schema(), source));
      headers.add("op", header.fromConnectHeader(topic, "op", Schema.STRING_SCHEMA, op));
      headers.add("transaction", header.fromConnectHeader(topic, "transaction", transaction().schema(), transaction()));
      byte[] bytes = converter(Map.of("metadata.source", "header,id:generate,type:generate,traceparent:header,dataSchemaName:generate",
          "json.schemas.enable", "true")).fromConnectData(topic, headers, row, row(row, "new"));
      print(connector, op, "a row out of its envelope", "none+json+cloudevents", source, topic, bytes, true, true, false);
    }

    static void print(Connector connector, String op, String title, String formats, Struct source, String topic, byte[] bytes,
        boolean hasExtensions, boolean hasTypes, boolean hasImages) throws Exception {
      ObjectNode line = line(connector.title + ": " + op + ", " + title, FROM, formats, topic, bytes);
      if (!SCHEMAS.isEmpty() && !line.has("schemas")) {
        putSchemas(line);
      }
      ObjectNode event = JSON.createObjectNode().put("kind", "change").put("op", OPS.get(op));
      event.set("table", tableOf(source));
      if (!hasExtensions && source.schema().field("schema") != null) {
        ((ObjectNode) event.get("table")).remove("database"); // nothing names it
      }
      if (hasTypes) {
        event.set("before", hasImages && (op.equals("u") || op.equals("d")) ? rowMeans("old") : null);
        event.set("after", op.equals("d") ? null : rowMeans("new"));
      }
      ObjectNode means = event.putObject("source").put("connector", source.getString("connector")).put("name", "srv");
      if (hasExtensions) {
        means.setAll(sourceMeans(source));
        dropNulls((ObjectNode) means.get("position"));
        event.set("transaction", transactionMeans());
      }
      line.set("event", event);
      System.out.println(JSON.writeValueAsString(line));
    }

    static void dropNulls(ObjectNode node) {
      node.properties().removeIf(field -> field.getValue().isNull());
    }

    static Struct transaction() {
      return new Struct(SchemaFactory.get().transactionBlockSchema()).put("id", "781:24023128").put("total_order", 2L).put("data_collection_order", 1L);
    }

    static ObjectNode transactionMeans() {
      ObjectNode means = JSON.createObjectNode().put("id", "781:24023128");
      means.set("totalOrder", tagged("$bigint", "2"));
      means.set("dataCollectionOrder", tagged("$bigint", "1"));
      return means;
    }
  }

  /** Where change number n stands in each connector's log. */
  static class Connectors {
    static List<Connector> all() {
      Map<String, String> database = new LinkedHashMap<>(Map.of("database.hostname", "db", "database.user", "u", "database.password", "p"));
      return List.of(
          new Connector("PostgreSQL", "postgresql", "PostgresConnectorConfig", "public.orders", with(database, "database.dbname", "inv"), (info, n) -> {
            Object lsn = lsn("postgresql.connection.Lsn", 24023128L + n);
            call(info, "updateLastCommit", lsn("postgresql.connection.Lsn", 24023100L));
            call(info, "update", lsn, AT, 781L, null, new TableId(null, "public", "orders"), null);
          }),
          new Connector("MySQL", "mysql", "MySqlConnectorConfig", "inv.orders", with(database, "database.server.id", "7"), WriteDebeziumVectors.Connectors::tellBinlog),
          new Connector("MariaDB", "mariadb", "MariaDbConnectorConfig", "inv.orders", with(database, "database.server.id", "7"), WriteDebeziumVectors.Connectors::tellBinlog),
          new Connector("SQL Server", "sqlserver", "SqlServerConnectorConfig", "inv.dbo.orders", with(database, "database.names", "inv"), (info, n) -> {
            call(info, "setChangeLsn", lsn("sqlserver.Lsn", "00000027:00000758:000" + n));
            call(info, "setCommitLsn", lsn("sqlserver.Lsn", "00000027:00000758:0005"));
            call(info, "setEventSerialNo", 1L);
            call(info, "setSourceTime", AT);
            call(info, "setTableId", new TableId("inv", "dbo", "orders"));
          }),
          new Connector("Db2", "db2", "Db2ConnectorConfig", "DB2INST1.orders", with(database, "database.dbname", "inv"), (info, n) -> {
            call(info, "setChangeLsn", lsn("db2.Lsn", "00000000:00000000:00000000:0000" + (4000 + n)));
            call(info, "setCommitLsn", lsn("db2.Lsn", "00000000:00000000:00000000:00005000"));
            call(info, "setSourceTime", AT);
            call(info, "setTableId", new TableId("inv", "DB2INST1", "orders"));
          }),
          new Connector("Informix", "informix", "InformixConnectorConfig", "inv.informix.orders", with(database, "database.dbname", "inv"), (info, n) -> {
            call(info, "setCommitLsn", lsn("informix.Lsn", 900L + n));
            call(info, "setChangeLsn", lsn("informix.Lsn", 800L + n));
            call(info, "setBeginLsn", lsn("informix.Lsn", 700L));
            call(info, "setTxId", 12);
            call(info, "setTimestamp", AT);
            call(info, "setTableId", new TableId("inv", "informix", "orders"));
          }),
          new Connector("Oracle", "oracle", "OracleConnectorConfig", "INV.orders", with(database, "database.dbname", "ORCLPDB1"), (info, n) -> {
            Class<?> scn = Class.forName("io.debezium.connector.oracle.Scn");
            Method of = scn.getMethod("valueOf", String.class);
            call(info, "setScn", of.invoke(null, String.valueOf(2868546L + n)));
            call(info, "setEventScn", of.invoke(null, String.valueOf(2868546L + n)));
            call(info, "setStartScn", of.invoke(null, "2868540"));
            call(info, "setEventCommitScn", of.invoke(null, "2868555"));
            call(info, "setTransactionId", "02001a00c4030000");
            call(info, "setTransactionSequence", (long) n);
            call(info, "setRedoThread", 1);
            call(info, "setRsId", "0x000011.00000a6c.0010");
            call(info, "setSsn", 0L);
            call(info, "setUserName", "INV");
            call(info, "setRowId", "AAAR3sAAEAAAACXAAA");
            call(info, "setSourceTime", AT);
            call(info, "setStartTime", AT);
            call(info, "setCommitTime", AT);
            call(info, "tableEvent", new TableId("ORCLPDB1", "INV", "orders"));
          }),
          new Connector("Vitess", "vitess", "VitessConnectorConfig", "inv.orders", with(database, "vitess.keyspace", "inv"), (info, n) -> {
            Class<?> type = Class.forName("io.debezium.connector.vitess.Vgtid");
            Object vgtid = type.getMethod("of", String.class).invoke(null, "[{\"keyspace\":\"inv\",\"shard\":\"-80\",\"gtid\":\"MySQL56/a790d864-9ba1-11ea-99f6-0242ac11000a:1-"
                + (1512 + n) + "\",\"table_p_ks\":[]}]");
            call(info, "resetVgtid", vgtid, AT);
            call(info, "setShard", "-80");
            call(info, "setTableId", new TableId("-80", "inv", "orders"));
            call(info, "setTimestamp", AT);
          }),
          new Connector("Spanner", "spanner", "SpannerConnectorConfig", "orders", Map.of("gcp.spanner.project.id", "p", "gcp.spanner.instance.id", "i",
              "gcp.spanner.database.id", "inv", "gcp.spanner.change.stream", "stream", "name", "srv"), (info, n) -> {}));
    }

    /** Everything of Spanner's SourceInfo is said to its constructor. */
    static Object[] spanner(CommonConnectorConfig config, int n) {
      return new Object[] {config, "orders", AT, AT, AT, "ODcyNTE2", (long) n, AT, 1L, "tag", false, "OLD_AND_NEW_VALUES", "token", 0, true, 1L};
    }

    static void tellBinlog(AbstractSourceInfo info, int n) throws Exception {
      call(info, "setBinlogPosition", "mysql-bin.000003", 484L);
      call(info, "setEventPosition", 484L + n);
      call(info, "setBinlogServerId", 223344L);
      call(info, "startGtid", info.getClass().getName().contains("mariadb") ? "0-223344-" + (23 + n) : "3E11FA47-71CA-11E1-9E33-C80AA9429562:" + (23 + n));
      call(info, "setBinlogThread", 7L);
      call(info, "setRowNumber", 0);
      call(info, "setSourceTime", AT);
      call(info, "databaseEvent", "inv");
      call(info, "tableEvent", new TableId("inv", null, "orders"));
    }

    static Map<String, String> with(Map<String, String> settings, String name, String value) {
      Map<String, String> all = new HashMap<>(settings);
      all.put(name, value);
      return all;
    }

    static Object lsn(String type, Object value) throws Exception {
      Class<?> lsn = Class.forName("io.debezium.connector." + type);
      for (Method method : lsn.getMethods()) {
        boolean takes = method.getParameterCount() == 1 && method.getParameterTypes()[0].isInstance(value);
        if (takes && (method.getName().equals("valueOf") || method.getName().equals("of"))) {
          return method.invoke(null, value);
        }
      }
      throw new NoSuchMethodException(type);
    }
  }
}
