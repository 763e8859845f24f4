import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.metadata.schema.ClusteringOrder;
import com.datastax.oss.driver.api.core.metadata.schema.ColumnMetadata;
import com.datastax.oss.driver.api.core.type.DataType;
import com.datastax.oss.driver.api.core.type.DataTypes;
import com.datastax.oss.driver.api.core.type.UserDefinedType;
import com.datastax.oss.driver.internal.core.metadata.schema.DefaultColumnMetadata;
import com.datastax.oss.driver.internal.core.metadata.schema.DefaultTableMetadata;
import com.datastax.oss.driver.internal.core.type.UserDefinedTypeBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpServer;
import io.debezium.config.Configuration;
import io.debezium.connector.base.ChangeEventQueue;
import io.debezium.connector.cassandra.Cassandra4CommitLogReadHandlerImpl;
import io.debezium.connector.cassandra.Cassandra4TypeProvider;
import io.debezium.connector.cassandra.CassandraConnectorConfig;
import io.debezium.connector.cassandra.CassandraConnectorContext;
import io.debezium.connector.cassandra.DefaultCassandraConnectorContext;
import io.debezium.connector.cassandra.Event;
import io.debezium.connector.cassandra.Filters;
import io.debezium.connector.cassandra.KafkaRecordEmitter;
import io.debezium.connector.cassandra.KeyValueSchema;
import io.debezium.connector.cassandra.KeyspaceTable;
import io.debezium.connector.cassandra.Module;
import io.debezium.connector.cassandra.OffsetPosition;
import io.debezium.connector.cassandra.OffsetWriter;
import io.debezium.connector.cassandra.Record;
import io.debezium.connector.cassandra.RecordMaker;
import io.debezium.connector.cassandra.SchemaHolder;
import io.debezium.connector.cassandra.metrics.CassandraStreamingMetrics;
import io.debezium.connector.cassandra.transforms.CassandraTypeDeserializer;
import io.debezium.connector.cassandra.transforms.CassandraTypeDeserializer.DecimalMode;
import io.debezium.connector.cassandra.transforms.CassandraTypeDeserializer.VarIntMode;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.cassandra.config.DataStorageSpec;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.cql3.Duration;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.commitlog.CommitLogDescriptor;
import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.marshal.TupleType;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.schema.TableParams;
import org.apache.cassandra.security.EncryptionContext;
import org.apache.cassandra.utils.TimeUUID;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.connect.json.JsonConverter;

/**
 * Prints vectors that Debezium's connector for Cassandra wrote: see README.md beside this file. Mutations as Cassandra keeps them in its
 * commit log go through the connector's own reader of them, and what that queues through its own emitter, up to the producer's record.
 */
public class WriteCassandraVectors {
  static final String KEYSPACE = "inv";
  static final Instant AT = Instant.parse("2024-08-08T11:07:19.782690Z");
  static final long AT_US = 1723115239782690L;
  static final long LOG = 1706184117000L;
  static final int POSITION = 3211;
  static final ObjectMapper JSON = new ObjectMapper().configure(JsonParser.Feature.ALLOW_SINGLE_QUOTES, true);
  static final Map<Integer, String> SCHEMAS = new LinkedHashMap<>();
  static String registryUrl;

  /** One column, a value for it, and what that must be read as: with the types that a schema tells, and without. */
  record Column(String name, Part part, DataType type, Object value, String typed, String plain) {
    Column(String name, DataType type, Object value, String means) {
      this(name, Part.REGULAR, type, value, means, means);
    }

    Column(String name, DataType type, Object value, String typed, String plain) {
      this(name, Part.REGULAR, type, value, typed, plain);
    }
  }

  enum Part { PARTITION, CLUSTERING, REGULAR }

  interface Change {
    void make(PartitionUpdate.SimpleBuilder partition, Table table);
  }

  /** What is done, to which columns it gives a value, and which of them end as null. */
  record Case(String title, String op, Set<String> touched, Set<String> nulled, Change change) {}

  record Way(String title, String formats, Map<String, String> converter, boolean hasTypes) {}

  public static void main(String[] args) throws Exception {
    DatabaseDescriptor.clientInitialization();
    DatabaseDescriptor.getRawConfig().max_mutation_size = new DataStorageSpec.IntKibibytesBound("16MiB"); // no client asks for it
    DatabaseDescriptor.setPartitionerUnsafe(Murmur3Partitioner.instance);
    Cassandra4TypeProvider types = new Cassandra4TypeProvider();
    CassandraTypeDeserializer.init(types.deserializers(), DecimalMode.DOUBLE, VarIntMode.LONG, types.baseTypeForReversedType());
    HttpServer registry = startRegistry();
    try {
      for (Way way : ways()) {
        printAll(way);
      }
    } finally {
      registry.stop(0);
    }
    System.exit(0);
  }

  static List<Way> ways() {
    String json = JsonConverter.class.getName();
    Map<String, String> avro = new HashMap<>(Map.of("", "io.apicurio.registry.utils.converter.AvroConverter", "apicurio.registry.url", registryUrl,
        "apicurio.registry.auto-register", "true", "apicurio.registry.as-confluent", "true", "apicurio.registry.use-id", "contentId",
        "apicurio.registry.headers.enabled", "false"));
    return List.of(
        new Way("", "none+json+debezium", Map.of("", json, "schemas.enable", "false"), false),
        new Way(", none+connect-json+debezium", "none+connect-json+debezium", Map.of("", json, "schemas.enable", "true"), true),
        new Way(", confluent+avro+debezium", "confluent+avro+debezium", avro, true));
  }

  static void printAll(Way way) throws Exception {
    modes(DecimalMode.DOUBLE, VarIntMode.LONG);
    boolean isAvro = way.formats.contains("avro");
    Table orders = Table.orders(isAvro);
    for (Case each : way.hasTypes ? List.of(orders.cases().get(3), orders.cases().get(5)) : orders.cases()) {
      orders.print(each, way);
    }
    if (isAvro || !way.hasTypes) {
      orders.printSnapshot(way);
    }
    Table events = Table.events();
    for (Case each : way.hasTypes ? events.rangeCases().subList(3, 4) : events.rangeCases()) {
      events.print(each, way);
    }
    if (isAvro) {
      return; // the wrapper of every column is called cell_value, and the converter writes all of them as it knows the first
    }
    Table.scalars().printInsert(way, "every type of one value: a time is its nanoseconds, an address keeps its slash");
    Table.collections().printInsert(way, "collections, tuples and types of users");
    Table.odd().printInsert(way, "values at the edge of their types: a month is 30 days, a varint is cut to 64 bits");
    modes(DecimalMode.PRECISE, VarIntMode.PRECISE);
    Table.numbers("'precise'", "{'scale':3,'value':'MDk='}", "'AY7pD/bDc+DuTj8K0g=='", "'12.345'", "'123456789012345678901234567890'").printInsert(way, "decimals and varints, precise");
    if (way.hasTypes) {
      return; // text is text, whatever is told of it
    }
    modes(DecimalMode.STRING, VarIntMode.STRING);
    Table.numbers("'string'", "'12.345'", "'123456789012345678901234567890'", "'12.345'", "'123456789012345678901234567890'").printInsert(way, "decimals and varints as text");
  }

  static void modes(DecimalMode decimals, VarIntMode varints) {
    CassandraTypeDeserializer.setDecimalMode(decimals);
    CassandraTypeDeserializer.setVarIntMode(varints);
  }

  /** One table, told to the connector by the driver's metadata and to Cassandra by its own. */
  static class Table {
    final String name;
    final List<Column> columns;
    final TableMetadata metadata;

    Table(String name, List<Column> columns) {
      this.name = name;
      this.columns = columns;
      TableMetadata.Builder builder = TableMetadata.builder(KEYSPACE, name).partitioner(Murmur3Partitioner.instance)
          .params(TableParams.builder().cdc(true).build());
      for (Column column : columns) {
        AbstractType<?> type = typeOf(column.type);
        switch (column.part) {
          case PARTITION -> builder.addPartitionKeyColumn(column.name, type);
          case CLUSTERING -> builder.addClusteringColumn(column.name, type);
          default -> builder.addRegularColumn(column.name, type);
        }
      }
      this.metadata = builder.build();
    }

    static Table orders(boolean isTextAlone) {
      Column id = isTextAlone ? new Column("id", Part.PARTITION, DataTypes.TEXT, "a", "'a'", "'a'")
          : new Column("id", Part.PARTITION, DataTypes.BIGINT, 9007199254740993L, big("9007199254740993"), big("9007199254740993"));
      return new Table("orders", List.of(id,
          new Column("v", DataTypes.TEXT, "new", "'new'"),
          new Column("w", DataTypes.TEXT, "other", "'other'"),
          new Column("x", DataTypes.TEXT, "third", "'third'")));
    }

    List<Case> cases() {
      return List.of(
          new Case("an insert", "i", Set.of("v", "w", "x"), Set.of(), (partition, table) -> table.add(partition.row(), "v", "w", "x")),
          new Case("an insert that leaves columns out", "i", Set.of("v"), Set.of(), (partition, table) -> table.add(partition.row(), "v")),
          new Case("an update of one column", "u", Set.of("v"), Set.of(),
              (partition, table) -> table.add(partition.row().noPrimaryKeyLivenessInfo(), "v")),
          new Case("an update that sets a column to null and leaves one as it was", "u", Set.of("v", "w"), Set.of("w"),
              (partition, table) -> table.add(partition.row().noPrimaryKeyLivenessInfo(), "v").delete("w")),
          new Case("an insert that expires", "i", Set.of("v"), Set.of(),
              (partition, table) -> table.add(partition.ttl(3600).nowInSec((int) (AT_US / 1_000_000)).row(), "v")),
          new Case("a delete of a row", "d", Set.of(), Set.of(), (partition, table) -> partition.row().delete()),
          new Case("a delete of a partition that is one row", "d", Set.of(), Set.of(), (partition, table) -> partition.delete()));
    }

    static Table events() {
      return new Table("events", List.of(
          new Column("id", Part.PARTITION, DataTypes.TEXT, "a", "'a'", "'a'"),
          new Column("day", Part.CLUSTERING, DataTypes.TEXT, "2024-02-29", "'2024-02-29'", "'2024-02-29'"),
          new Column("seq", Part.CLUSTERING, DataTypes.TEXT, "7", "'7'", "'7'"),
          new Column("v", DataTypes.TEXT, "new", "'new'")));
    }

    List<Case> rangeCases() {
      return List.of(
          new Case("an insert below a clustering key", "i", Set.of("day", "seq", "v"), Set.of(),
              (partition, table) -> table.add(partition.row("2024-02-29", "7"), "v")),
          new Case("a delete of one row of a partition", "d", Set.of("day", "seq"), Set.of(), (partition, table) -> partition.row("2024-02-29", "7").delete()),
          new Case("a delete of a partition of many rows", "d", Set.of(), Set.of(), (partition, table) -> partition.delete()),
          new Case("a range tombstone", "r", Set.of(), Set.of(),
              (partition, table) -> partition.addRangeTombstone().start("2024-02-01", "1").inclStart().end("2024-03-01").exclEnd()),
          new Case("a range tombstone that is open at its end", "r", Set.of(), Set.of(),
              (partition, table) -> partition.addRangeTombstone().start("2024-02-01").exclStart().end()));
    }

    static Column id() {
      return new Column("id", Part.PARTITION, DataTypes.INT, 7, "7", "7");
    }

    static Table scalars() throws Exception {
      List<Column> columns = new ArrayList<>(List.of(
          new Column("id", Part.PARTITION, DataTypes.UUID, UUID.fromString("596e2758-26f0-4b27-b077-9e1f00112233"),
              "'596e2758-26f0-4b27-b077-9e1f00112233'", "'596e2758-26f0-4b27-b077-9e1f00112233'"),
          new Column("v_ascii", DataTypes.ASCII, "plain", "'plain'"),
          new Column("v_bigint", DataTypes.BIGINT, -9007199254740993L, big("-9007199254740993")),
          new Column("v_blob", DataTypes.BLOB, ByteBuffer.wrap(new byte[] {0, (byte) 255, 16}), "{'$bytes':'00ff10'}", "'AP8Q'"),
          new Column("v_boolean", DataTypes.BOOLEAN, true, "true"),
          new Column("v_date", DataTypes.DATE, (int) LocalDate.parse("2024-02-29").toEpochDay() - Integer.MIN_VALUE, "'2024-02-29'", "19782"),
          new Column("v_decimal", DataTypes.DECIMAL, new BigDecimal("12.345"), "12.345"),
          new Column("v_double", DataTypes.DOUBLE, 0.1, "0.1"),
          new Column("v_duration", DataTypes.DURATION, Duration.newInstance(0, 0, 5_000_000_001L), "5000000001"),
          new Column("v_float", DataTypes.FLOAT, 0.5f, "0.5"),
          new Column("v_inet", DataTypes.INET, InetAddress.getByName("192.0.2.7"), "'/192.0.2.7'"),
          new Column("v_inet6", DataTypes.INET, InetAddress.getByName("2001:db8::7"), "'/2001:db8:0:0:0:0:0:7'"),
          new Column("v_int", DataTypes.INT, -2147483648, "-2147483648"),
          new Column("v_smallint", DataTypes.SMALLINT, (short) -32768, "-32768"),
          new Column("v_text", DataTypes.TEXT, "Grüße 🎉", "'Grüße 🎉'"),
          new Column("v_time", DataTypes.TIME, 86399999999999L, "86399999999999"),
          new Column("v_timestamp", DataTypes.TIMESTAMP, new java.util.Date(1709208000500L), "'2024-02-29T12:00:00.5'", "1709208000500"),
          new Column("v_timeuuid", DataTypes.TIMEUUID, TimeUUID.fromUuid(UUID.fromString("50554d6e-29bb-11e5-b345-feff819cdc9f")),
              "'50554d6e-29bb-11e5-b345-feff819cdc9f'"),
          new Column("v_tinyint", DataTypes.TINYINT, (byte) -128, "-128"),
          new Column("v_varint", DataTypes.VARINT, new BigInteger("9007199254740993"), big("9007199254740993"))));
      return new Table("scalars", columns);
    }

    static Table odd() throws Exception {
      return new Table("odd", List.of(id(),
          new Column("before_epoch", DataTypes.DATE, (int) LocalDate.parse("1582-10-04").toEpochDay() - Integer.MIN_VALUE, "'1582-10-04'", "-141438"),
          new Column("bigint_max", DataTypes.BIGINT, Long.MAX_VALUE, big("9223372036854775807")),
          new Column("duration", DataTypes.DURATION, Duration.newInstance(14, 3, 1L), big("36547200000000001")), // to the connector a month is 30 days
          new Column("empty_blob", DataTypes.BLOB, ByteBuffer.wrap(new byte[0]), "{'$bytes':''}", "''"),
          new Column("empty_text", DataTypes.TEXT, "", "''"),
          new Column("float_tenth", DataTypes.FLOAT, 0.1f, "0.10000000149011612", "0.1"),
          new Column("nan", DataTypes.DOUBLE, Double.NaN, "{'$number':'NaN'}", "'NaN'"),
          new Column("old", DataTypes.TIMESTAMP, new java.util.Date(-1L), "'1969-12-31T23:59:59.999'", "-1"),
          new Column("midnight", DataTypes.TIME, 0L, "0"),
          new Column("varint_wrapped", DataTypes.VARINT, BigInteger.ONE.shiftLeft(64).add(BigInteger.TWO), "2")));
    }

    static Table numbers(String mode, String plainDecimal, String plainVarint, String decimal, String varint) {
      return new Table("numbers", List.of(id(), new Column("mode", DataTypes.TEXT, mode.replace("'", ""), mode),
          new Column("v_decimal", DataTypes.DECIMAL, new BigDecimal("12.345"), decimal, plainDecimal),
          new Column("v_varint", DataTypes.VARINT, new BigInteger("123456789012345678901234567890"), varint, plainVarint)));
    }

    static Table collections() {
      UserDefinedType address = new UserDefinedTypeBuilder(KEYSPACE, "address").withField("street", DataTypes.TEXT).withField("since", DataTypes.DATE)
          .withField("phones", DataTypes.frozenSetOf(DataTypes.TEXT)).frozen().build();
      DataType pair = DataTypes.tupleOf(DataTypes.INT, DataTypes.TEXT, DataTypes.TIMESTAMP);
      int day = (int) LocalDate.parse("2024-02-29").toEpochDay() - Integer.MIN_VALUE;
      ByteBuffer home = packed(address, "Main St 1", day, new TreeSet<>(Set.of("1")));
      ByteBuffer tuple = packed(pair, 1, "one", new java.util.Date(1709208000500L));
      String typedHome = "{'street':'Main St 1','since':'2024-02-29','phones':['1']}";
      String plainHome = "{'street':'Main St 1','since':19782,'phones':['1']}";
      return new Table("collections", List.of(id(),
          new Column("dates", DataTypes.listOf(DataTypes.DATE), List.of(day, day + 1), "['2024-02-29','2024-03-01']", "[19782,19783]"),
          new Column("frozen_dates", DataTypes.frozenListOf(DataTypes.DATE), List.of(day), "['2024-02-29']", "[19782]"),
          new Column("frozen_ids", DataTypes.frozenMapOf(DataTypes.INT, DataTypes.TEXT), Map.of(1, "a"), "{'$map':[[1,'a']]}", "[[1,'a']]"),
          new Column("home", address, home, typedHome, plainHome),
          new Column("homes", DataTypes.listOf(address), List.of(home), "[" + typedHome + "]", "[" + plainHome + "]"),
          new Column("homes_by_name", DataTypes.mapOf(DataTypes.TEXT, address), Map.of("first", home), "{'$map':[['first'," + typedHome + "]]}", "{'first':" + plainHome + "}"),
          new Column("ids", DataTypes.mapOf(DataTypes.INT, DataTypes.BIGINT), Map.of(1, 2L), "{'$map':[[1,2]]}", "[[1,2]]"),
          new Column("labels", DataTypes.setOf(DataTypes.TEXT), new TreeSet<>(Set.of("one")), "['one']"),
          new Column("none", DataTypes.frozenListOf(DataTypes.TEXT), List.of(), "[]"),
          new Column("numbers", DataTypes.frozenSetOf(DataTypes.INT), new TreeSet<>(Set.of(3)), "[3]"),
          new Column("pair", pair, tuple, "{'field1':1,'field2':'one','field3':'2024-02-29T12:00:00.5'}", "{'field1':1,'field2':'one','field3':1709208000500}"),
          new Column("pair_without", pair, packed(pair, 1, null, null), "{'field1':1,'field2':null,'field3':null}"),
          new Column("prices", DataTypes.mapOf(DataTypes.TEXT, DataTypes.DOUBLE), Map.of("a", 1.5), "{'$map':[['a',1.5]]}", "{'a':1.5}")));
    }

    /** The bytes of a tuple or of a user's type, which is one with names. */
    static ByteBuffer packed(DataType type, Object... values) {
      TupleType tuple = (TupleType) typeOf(type);
      ByteBuffer[] fields = new ByteBuffer[values.length];
      for (int i = 0; i < values.length; i++) {
        fields[i] = values[i] == null ? null : bytesOf(tuple.type(i), values[i]);
      }
      return TupleType.buildValue(fields);
    }

    @SuppressWarnings("unchecked")
    static ByteBuffer bytesOf(AbstractType<?> type, Object value) {
      return ((AbstractType<Object>) type).decompose(value);
    }

    static AbstractType<?> typeOf(DataType type) {
      return (AbstractType<?>) CassandraTypeDeserializer.getTypeDeserializer(type).getAbstractType(type);
    }

    org.apache.cassandra.db.rows.Row.SimpleBuilder add(org.apache.cassandra.db.rows.Row.SimpleBuilder row, String... names) {
      for (String name : names) {
        row.add(name, column(name).value);
      }
      return row;
    }

    Column column(String name) {
      return columns.stream().filter(column -> column.name.equals(name)).findFirst().orElseThrow();
    }

    void printInsert(Way way, String title) throws Exception {
      String[] regular = columns.stream().filter(column -> column.part == Part.REGULAR).map(Column::name).toArray(String[]::new);
      print(new Case(title, "i", Set.of(regular), Set.of(), (partition, table) -> table.add(partition.row(), regular)), way);
    }

    void print(Case each, Way way) throws Exception {
      PartitionUpdate.SimpleBuilder partition = PartitionUpdate.simpleBuilder(metadata, columns.get(0).value).timestamp(AT_US);
      each.change.make(partition, this);
      Connector connector = new Connector(this, way);
      for (Record record : connector.read(new Mutation(partition.build()))) {
        boolean isShown = record.getValueSchema() != null || each.title.endsWith("a row") || each.title.endsWith("many rows");
        if (isShown) { // of two tombstones that are alike, one
          print(each, way, record, connector.produced(record));
        }
      }
    }

    /** A row of a snapshot has all its columns, and no place in a log. */
    void printSnapshot(Way way) throws Exception {
      Connector connector = new Connector(this, way);
      Case each = new Case("a row of a snapshot", "i", Set.of("v", "w"), Set.of("w"), (partition, table) -> table.add(partition.row(), "v").delete("w"));
      PartitionUpdate.SimpleBuilder partition = PartitionUpdate.simpleBuilder(metadata, columns.get(0).value).timestamp(AT_US);
      each.change.make(partition, this);
      Record streamed = connector.read(new Mutation(partition.build())).get(0);
      List<Record> made = new ArrayList<>();
      new RecordMaker(false, new Filters(List.of()), connector.config).insert("Test Cluster", OffsetPosition.defaultOffsetPosition(),
          new KeyspaceTable(KEYSPACE, name), true, AT, streamed.getRowData(), streamed.getKeySchema(), streamed.getValueSchema(), true, made::add);
      print(each, way, made.get(0), connector.produced(made.get(0)));
    }

    void print(Case each, Way way, Record record, ProducerRecord<byte[], byte[]> produced) throws Exception {
      boolean isTombstone = produced.value() == null;
      ObjectNode line = JSON.createObjectNode();
      line.put("name", "Cassandra: " + each.title + (isTombstone ? ", its tombstone" : "") + way.title);
      line.put("from", "io.debezium:debezium-connector-cassandra-4:" + Module.version()).put("writtenBy", "Debezium " + Module.version());
      if (!isTombstone) {
        line.put("formats", way.formats);
      }
      line.put("keyFormats", way.formats.substring(0, way.formats.lastIndexOf('+'))).put("topic", produced.topic());
      if (way.formats.contains("avro")) {
        ArrayNode schemas = line.putArray("schemas");
        for (Map.Entry<Integer, String> schema : SCHEMAS.entrySet()) {
          schemas.addObject().put("id", schema.getKey()).set("schema", JSON.readTree(schema.getValue()));
        }
      }
      line.set("key", written(produced.key(), way));
      line.set("value", isTombstone ? JSON.nullNode() : written(produced.value(), way));
      line.set("event", isTombstone ? JSON.createObjectNode().put("kind", "tombstone").set("key", keyMeans(each, way)) : meaning(each, way, record));
      System.out.println(JSON.writeValueAsString(line));
    }

    static JsonNode written(byte[] bytes, Way way) {
      return way.formats.startsWith("none") ? JSON.getNodeFactory().textNode(new String(bytes, StandardCharsets.UTF_8))
          : JSON.createObjectNode().put("base64", Base64.getEncoder().encodeToString(bytes));
    }

    ObjectNode meaning(Case each, Way way, Record record) throws Exception {
      boolean isDelete = each.op.equals("d") || each.op.equals("r");
      ObjectNode event = JSON.createObjectNode().put("kind", "change").put("op", isDelete ? "delete" : each.op.equals("i") ? "create" : "update");
      event.putObject("table").put("database", KEYSPACE).put("name", name);
      event.set("key", keyMeans(each, way));
      ObjectNode row = rowMeans(each, way);
      event.set("before", isDelete ? row : null);
      event.set("after", isDelete ? null : row);
      event.put("tsMs", record.getTs());
      boolean isSnapshot = record.getSource().snapshot;
      ObjectNode source = event.putObject("source").put("connector", "cassandra").put("name", "srv").put("version", Module.version());
      source.put("tsMs", AT_US / 1000).put("tsUs", AT_US).set("tsNs", tagged(AT_US + "000"));
      if (isSnapshot) {
        source.put("snapshot", "true");
      } else {
        source.put("snapshot", false);
      }
      source.putObject("position").put("cluster", isSnapshot ? "Test Cluster" : DatabaseDescriptor.getClusterName())
          .put("file", isSnapshot ? "" : "CommitLog-7-" + LOG + ".log").put("pos", isSnapshot ? -1 : POSITION).putNull("sequence");
      return event;
    }

    /** What the change says of the row: its key, and what it set. A delete sets nothing. */
    ObjectNode rowMeans(Case each, Way way) throws Exception {
      ObjectNode row = JSON.createObjectNode();
      for (Column column : columns) {
        if (column.part == Part.PARTITION || each.touched.contains(column.name)) {
          row.set(column.name, each.nulled.contains(column.name) ? JSON.nullNode() : means(column, way));
        }
      }
      if (each.op.equals("r")) {
        String type = "org.apache.cassandra.db.marshal.UTF8Type";
        boolean isOpen = each.title.contains("open");
        String start = "{'name':'day','value':'2024-02-01','type':'" + type + "'}";
        String seq = "{'name':'seq','value':'1','type':'" + type + "'}";
        row.set("_range_start", JSON.readTree(isOpen ? "{'method':'EXCL_START_BOUND','values':[" + start + "]}"
            : "{'method':'INCL_START_BOUND','values':[" + start + "," + seq + "]}"));
        row.set("_range_end", JSON.readTree(isOpen ? "{'method':'INCL_END_BOUND','values':[]}"
            : "{'method':'EXCL_END_BOUND','values':[{'name':'day','value':'2024-03-01','type':'" + type + "'}]}"));
      }
      return row;
    }

    /** A key has each of its columns: null where the change is of more rows than one. A range's has those of the partition alone. */
    ObjectNode keyMeans(Case each, Way way) throws Exception {
      ObjectNode key = JSON.createObjectNode();
      for (Column column : columns) {
        if (column.part == Part.PARTITION || (column.part == Part.CLUSTERING && each.touched.contains(column.name))) {
          key.set(column.name, means(column, way));
        } else if (column.part == Part.CLUSTERING) {
          key.putNull(column.name);
        }
      }
      return key;
    }

    static JsonNode means(Column column, Way way) throws Exception {
      return JSON.readTree(way.hasTypes ? column.typed : column.plain);
    }

    static String big(String digits) {
      return "{'$bigint':'" + digits + "'}";
    }

    static ObjectNode tagged(String digits) {
      return JSON.createObjectNode().put("$bigint", digits);
    }
  }

  /** The connector without a server: its own reader of mutations, its own emitter without a producer. */
  static class Connector {
    final CassandraConnectorConfig config;
    final Cassandra4CommitLogReadHandlerImpl reader;
    final KafkaRecordEmitter emitter;
    final ChangeEventQueue<Event> queue;

    Connector(Table table, Way way) throws Exception {
      Map<String, String> settings = new HashMap<>(Map.of("topic.prefix", "srv", "tombstones.on.delete", "true", "poll.interval.ms", "1"));
      way.converter.forEach((name, value) -> {
        settings.put("key.converter" + (name.isEmpty() ? "" : ".") + name, value);
        settings.put("value.converter" + (name.isEmpty() ? "" : ".") + name, value);
      });
      config = new CassandraConnectorConfig(Configuration.from(settings));
      SchemaHolder schemas = new SchemaHolder();
      schemas.addOrUpdateTableSchema(new KeyspaceTable(KEYSPACE, table.name), new KeyValueSchema.KeyValueSchemaBuilder()
          .withTableMetadata(driverMetadata(table)).withKafkaTopicPrefix("srv").withSourceInfoStructMarker(config.getSourceInfoStructMaker()).build());
      OffsetWriter offsets = (OffsetWriter) Proxy.newProxyInstance(OffsetWriter.class.getClassLoader(), new Class<?>[] {OffsetWriter.class},
          (proxy, method, arguments) -> method.getReturnType() == boolean.class ? false : null);
      DefaultCassandraConnectorContext context = new DefaultCassandraConnectorContext(config) {
        @Override
        public SchemaHolder getSchemaHolder() {
          return schemas;
        }

        @Override
        public OffsetWriter getOffsetWriter() {
          return offsets;
        }
      };
      queue = context.getQueues().get(0);
      Constructor<?> constructor = Cassandra4CommitLogReadHandlerImpl.class.getDeclaredConstructor(CassandraConnectorContext.class, CassandraStreamingMetrics.class);
      constructor.setAccessible(true);
      reader = (Cassandra4CommitLogReadHandlerImpl) constructor.newInstance(context, new CassandraStreamingMetrics(context));
      SCHEMAS.clear();
      emitter = new KafkaRecordEmitter(config, null, offsets, config.getKeyConverter(), config.getValueConverter(), Set.of(), null);
    }

    List<Record> read(Mutation mutation) throws Exception {
      reader.handleMutation(mutation, 0, POSITION, new CommitLogDescriptor(LOG, null, new EncryptionContext()));
      List<Record> records = new ArrayList<>();
      for (Event event : queue.poll()) {
        records.add((Record) event);
      }
      return records;
    }

    @SuppressWarnings("unchecked")
    ProducerRecord<byte[], byte[]> produced(Record record) throws Exception {
      Method method = KafkaRecordEmitter.class.getDeclaredMethod("toProducerRecord", Record.class);
      method.setAccessible(true);
      return (ProducerRecord<byte[], byte[]>) method.invoke(emitter, record);
    }

    static com.datastax.oss.driver.api.core.metadata.schema.TableMetadata driverMetadata(Table table) {
      CqlIdentifier keyspace = CqlIdentifier.fromInternal(KEYSPACE);
      CqlIdentifier name = CqlIdentifier.fromInternal(table.name);
      List<ColumnMetadata> partition = new ArrayList<>();
      Map<ColumnMetadata, ClusteringOrder> clustering = new LinkedHashMap<>();
      Map<CqlIdentifier, ColumnMetadata> all = new LinkedHashMap<>();
      for (Column column : table.columns) {
        ColumnMetadata metadata = new DefaultColumnMetadata(keyspace, name, CqlIdentifier.fromInternal(column.name), column.type, false);
        all.put(metadata.getName(), metadata);
        if (column.part == Part.PARTITION) {
          partition.add(metadata);
        } else if (column.part == Part.CLUSTERING) {
          clustering.put(metadata, ClusteringOrder.ASC);
        }
      }
      return new DefaultTableMetadata(keyspace, name, UUID.randomUUID(), false, false, partition, clustering, all, Map.of(), Map.of());
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
}
