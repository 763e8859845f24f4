import com.alibaba.otter.canal.client.CanalMessageDeserializer;
import com.alibaba.otter.canal.protocol.CanalEntry.Column;
import com.alibaba.otter.canal.protocol.CanalEntry.Entry;
import com.alibaba.otter.canal.protocol.CanalEntry.EntryType;
import com.alibaba.otter.canal.protocol.CanalEntry.EventType;
import com.alibaba.otter.canal.protocol.CanalEntry.Header;
import com.alibaba.otter.canal.protocol.CanalEntry.RowChange;
import com.alibaba.otter.canal.protocol.CanalEntry.RowData;
import com.alibaba.otter.canal.protocol.CanalEntry.TransactionBegin;
import com.alibaba.otter.canal.protocol.CanalEntry.TransactionEnd;
import com.alibaba.otter.canal.protocol.CanalPacket.Messages;
import com.alibaba.otter.canal.protocol.CanalPacket.Packet;
import com.alibaba.otter.canal.protocol.CanalPacket.PacketType;
import com.google.protobuf.ByteString;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;

/** Prints test/vectors/decode/canal-protobuf.ndjson, by Canal's own classes: see README.md beside this file. */
public class WriteCanalVectors {
  static final long ES = 1723115239000L;
  static final String OPTIONS = "\"options\":{\"topics\":{\"inv.orders\":{\"value\":{\"encoding\":\"canal-protobuf\"}}}}";
  static final String TABLE = "\"table\":{\"database\":\"inv\",\"name\":\"orders\"}";

  public static void main(String[] args) throws Exception {
    String blob = new String(new byte[] {0, (byte) 0xff, 'a'}, StandardCharsets.ISO_8859_1);
    List<Column> one = List.of(
        column("id", 4, "int(11)", "7", true),
        column("price", 3, "decimal(10,2)", "12.30", false),
        column("day", 91, "date", "2024-02-29", false),
        column("data", 2004, "blob", blob, false),
        column("note", 12, "varchar(20)", "h\u00f6her", false),
        absent("gone", 12, "varchar(20)"));
    List<Column> other = List.of(column("id", 4, "int(11)", "7", true), column("price", 3, "decimal(10,2)", "13.00", false));
    List<Column> second = List.of(column("id", 4, "int(11)", "8", true), column("price", 3, "decimal(10,2)", "0.50", false));
    String first = "{\"id\":7,\"price\":\"12.30\",\"day\":\"2024-02-29\",\"data\":{\"$bytes\":\"00ff61\"},\"note\":\"h\u00f6her\",\"gone\":null}";

    line("an insert with every kind of column", List.of(rows(EventType.INSERT, RowData.newBuilder().addAllAfterColumns(one).build())),
        change("create", "null", first, 7));
    line("an update with both images", List.of(rows(EventType.UPDATE,
        RowData.newBuilder().addAllBeforeColumns(other).addAllAfterColumns(one).build())),
        change("update", "{\"id\":7,\"price\":\"13.00\"}", first, 7));
    line("deletes of two rows", List.of(rows(EventType.DELETE, RowData.newBuilder().addAllBeforeColumns(other).build(),
        RowData.newBuilder().addAllBeforeColumns(second).build())),
        change("delete", "{\"id\":7,\"price\":\"13.00\"}", "null", 7) + "," + change("delete", "{\"id\":8,\"price\":\"0.50\"}", "null", 8));
    ByteString begin = TransactionBegin.newBuilder().setExecuteTime(ES).setThreadId(11).build().toByteString();
    ByteString end = TransactionEnd.newBuilder().setExecuteTime(ES).setTransactionId("42").build().toByteString();
    line("a transaction with its bounds", List.of(entry(EntryType.TRANSACTIONBEGIN, EventType.QUERY, begin),
        rows(EventType.INSERT, RowData.newBuilder().addAllAfterColumns(second).build()), entry(EntryType.TRANSACTIONEND, EventType.QUERY, end)),
        "{\"kind\":\"transaction\",\"status\":\"begin\",\"id\":\"\"}," + change("create", "null", "{\"id\":8,\"price\":\"0.50\"}", 8)
        + ",{\"kind\":\"transaction\",\"status\":\"end\",\"id\":\"42\",\"tsMs\":" + ES + "}");
    RowChange ddl = RowChange.newBuilder().setEventType(EventType.ALTER).setIsDdl(true).setSql("alter table orders add x int")
        .setDdlSchemaName("inv").build();
    line("a change of the table", List.of(entry(EntryType.ROWDATA, EventType.ALTER, ddl.toByteString())),
        "{\"kind\":\"schema-change\",\"ddl\":\"alter table orders add x int\",\"database\":\"inv\"}");
    RowChange truncate = RowChange.newBuilder().setEventType(EventType.TRUNCATE).setIsDdl(true).setSql("truncate table orders").build();
    line("a truncate", List.of(entry(EntryType.ROWDATA, EventType.TRUNCATE, truncate.toByteString())), "{\"kind\":\"truncate\"," + TABLE + "}");
    line("a batch of nothing", List.of(), "");
  }

  static String change(String op, String before, String after, int id) {
    return "{\"kind\":\"change\",\"op\":\"" + op + "\"," + TABLE + ",\"key\":{\"id\":" + id + "},\"before\":" + before + ",\"after\":" + after
        + ",\"source\":{\"connector\":\"mysql\",\"tsMs\":" + ES + "}}";
  }

  static Column column(String name, int sqlType, String mysqlType, String value, boolean isKey) {
    return Column.newBuilder().setIndex(0).setSqlType(sqlType).setName(name).setIsKey(isKey).setUpdated(true).setIsNull(false).setValue(value)
        .setMysqlType(mysqlType).build();
  }

  static Column absent(String name, int sqlType, String mysqlType) {
    return Column.newBuilder().setSqlType(sqlType).setName(name).setIsNull(true).setMysqlType(mysqlType).build();
  }

  static Entry rows(EventType type, RowData... rows) {
    RowChange change = RowChange.newBuilder().setTableId(5).setEventType(type).setIsDdl(false).addAllRowDatas(List.of(rows)).build();
    return entry(EntryType.ROWDATA, type, change.toByteString());
  }

  static Entry entry(EntryType entryType, EventType type, ByteString stored) {
    Header header = Header.newBuilder().setVersion(1).setLogfileName("mysql-bin.000003").setLogfileOffset(154).setServerId(1)
        .setServerenCode("UTF-8").setExecuteTime(ES).setSchemaName("inv").setTableName("orders").setEventType(type).build();
    return Entry.newBuilder().setHeader(header).setEntryType(entryType).setStoreValue(stored).build();
  }

  /** As CanalMessageSerializerUtil of Canal's server writes a message; Canal's client must read as many entries. */
  static void line(String name, List<Entry> entries, String events) {
    Messages.Builder messages = Messages.newBuilder().setBatchId(3);
    for (Entry entry : entries) {
      messages.addMessages(entry.toByteString());
    }
    byte[] bytes = Packet.newBuilder().setType(PacketType.MESSAGES).setBody(messages.build().toByteString()).build().toByteArray();
    if (CanalMessageDeserializer.deserializer(bytes).getEntries().size() != entries.size()) {
      throw new IllegalStateException(name);
    }
    System.out.println("{\"name\":\"" + name + "\",\"from\":\"com.alibaba.otter:canal.protocol 1.1.8\",\"writtenBy\":\"Canal 1.1.8\","
        + "\"formats\":\"none+canal-protobuf+canal\"," + OPTIONS + ",\"topic\":\"inv.orders\",\"events\":[" + events + "],\"value\":{\"base64\":\""
        + Base64.getEncoder().encodeToString(bytes) + "\"}}");
  }
}
