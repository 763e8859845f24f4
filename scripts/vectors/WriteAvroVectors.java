import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.avro.Conversions;
import org.apache.avro.Schema;
import org.apache.avro.SchemaNormalization;
import org.apache.avro.data.TimeConversions;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.io.JsonEncoder;
import org.apache.avro.message.BinaryMessageEncoder;

/**
 * Prints test/vectors/decode/avro-json.ndjson ("json") or avro-containers.ndjson ("files"), or the messages of test/contract/avro-files.test.ts
 * ("single"): see README.md beside this file.
 */
public class WriteAvroVectors {
  static final String LIBRARY = "Apache Avro (Java) 1.11.4";
  static final GenericData DATA = new GenericData();

  static {
    DATA.addLogicalTypeConversion(new Conversions.DecimalConversion());
    DATA.addLogicalTypeConversion(new Conversions.UUIDConversion());
    DATA.addLogicalTypeConversion(new TimeConversions.DateConversion());
    DATA.addLogicalTypeConversion(new TimeConversions.TimeMillisConversion());
    DATA.addLogicalTypeConversion(new TimeConversions.TimestampMillisConversion());
    DATA.addLogicalTypeConversion(new TimeConversions.TimestampMicrosConversion());
  }

  public static void main(String[] args) throws Exception {
    if (args[0].equals("json")) {
      json();
    } else if (args[0].equals("files")) {
      files();
    } else {
      single();
    }
  }

  static Schema schema(String text) {
    return new Schema.Parser().parse(text.replace('\'', '"'));
  }

  static Schema row(String fields) {
    return schema("{'type':'record','name':'Row','namespace':'shop','fields':[" + fields + "]}");
  }

  static GenericRecord record(Schema schema, Object... values) {
    GenericRecord record = new GenericData.Record(schema);
    for (int i = 0; i < values.length; i++) {
      record.put(i, values[i]);
    }
    return record;
  }

  static void json() throws Exception {
    Schema scalars = row("{'name':'b','type':'boolean'},{'name':'i','type':'int'},{'name':'l','type':'long'},{'name':'f','type':'float'},"
        + "{'name':'d','type':'double'},{'name':'s','type':'string'},{'name':'y','type':'bytes'},{'name':'n','type':'null'}");
    json("every primitive", scalars,
        record(scalars, true, -5, 150L, 1.5f, 0.1, "h\u00f6her \ud83d\udc27 \"", ByteBuffer.wrap(new byte[] {0, (byte) 0xff, 65, (byte) 0x80}), null),
        "{'b':true,'i':-5,'l':150,'f':1.5,'d':0.1,'s':'h\u00f6her \ud83d\udc27 \\\"','y':{'$bytes':'00ff4180'},'n':null}");
    json("the ends of integers", scalars,
        record(scalars, false, Integer.MIN_VALUE, Long.MAX_VALUE, Float.MAX_VALUE, Double.MIN_VALUE, "", ByteBuffer.allocate(0), null),
        "{'b':false,'i':-2147483648,'l':{'$bigint':'9223372036854775807'},'f':3.4028234663852886e38,'d':5e-324,'s':'','y':{'$bytes':''},'n':null}");
    json("what JSON has no number for", scalars,
        record(scalars, false, 0, Long.MIN_VALUE, Float.NEGATIVE_INFINITY, Double.NaN, "NaN", ByteBuffer.allocate(0), null),
        "{'b':false,'i':0,'l':{'$bigint':'-9223372036854775808'},'f':{'$number':'-Infinity'},'d':{'$number':'NaN'},'s':'NaN','y':{'$bytes':''},'n':null}");

    Schema unions = row("{'name':'a','type':['null','string'],'default':null},{'name':'c','type':['null','string']},"
        + "{'name':'e','type':['int','null',{'type':'enum','name':'Color','symbols':['RED','BLUE']}]},"
        + "{'name':'r','type':['null',{'type':'record','name':'Inner','fields':[{'name':'x','type':['long','double']}]}]},"
        + "{'name':'v','type':['null',{'type':'array','items':['null','int']},{'type':'map','values':'bytes'}]},"
        + "{'name':'m','type':['null',{'type':'array','items':'string'},{'type':'map','values':['null','int']}]},"
        + "{'name':'x','type':[{'type':'fixed','name':'Two','size':2},'null']}");
    Schema color = unions.getField("e").schema().getTypes().get(2);
    Schema inner = unions.getField("r").schema().getTypes().get(1);
    Schema two = unions.getField("x").schema().getTypes().get(0);
    json("unions name their branch, named types by their full names", unions,
        record(unions, "text", null, new GenericData.EnumSymbol(color, "BLUE"), record(inner, 2.5), Arrays.asList(1, null, 3), Map.of("k", 4),
            new GenericData.Fixed(two, new byte[] {(byte) 0xc3, 1})),
        "{'a':'text','c':null,'e':'BLUE','r':{'x':2.5},'v':[1,null,3],'m':{'k':4},'x':{'$bytes':'c301'}}");
    json("unions of null", unions, record(unions, null, null, null, null, null, null, null),
        "{'a':null,'c':null,'e':null,'r':null,'v':null,'m':null,'x':null}");

    Schema logical = row("{'name':'price','type':{'type':'bytes','logicalType':'decimal','precision':10,'scale':2}},"
        + "{'name':'fee','type':['null',{'type':'fixed','name':'Fee','size':4,'logicalType':'decimal','precision':6,'scale':3}]},"
        + "{'name':'day','type':{'type':'int','logicalType':'date'}},{'name':'at','type':{'type':'int','logicalType':'time-millis'}},"
        + "{'name':'ms','type':{'type':'long','logicalType':'timestamp-millis'}},"
        + "{'name':'us','type':['null',{'type':'long','logicalType':'timestamp-micros'}]},"
        + "{'name':'id','type':{'type':'string','logicalType':'uuid'}}");
    json("logical types", logical,
        record(logical, new BigDecimal("-12345.60"), new BigDecimal("0.005"), LocalDate.of(1969, 12, 31), LocalTime.of(23, 59, 59, 999_000_000),
            Instant.parse("2024-02-29T12:00:00.001Z"), Instant.parse("1969-12-31T23:59:59.999999Z"),
            UUID.fromString("b7b4a7f0-9c96-4e4a-a687-fb5de9ef0c63")),
        "{'price':'-12345.60','fee':'0.005','day':'1969-12-31','at':'23:59:59.999','ms':'2024-02-29T12:00:00.001Z',"
            + "'us':'1969-12-31T23:59:59.999999Z','id':'b7b4a7f0-9c96-4e4a-a687-fb5de9ef0c63'}");

    Schema list = schema("{'type':'record','name':'List','namespace':'shop','fields':[{'name':'v','type':'int'},"
        + "{'name':'next','type':['null','List']}]}");
    json("a record that holds itself", list, record(list, 1, record(list, 2, null)), "{'v':1,'next':{'v':2,'next':null}}");

    Schema order = row("{'name':'id','type':'int'},{'name':'note','type':['null','string'],'default':null},{'name':'extra','type':'string'}");
    String wanted = "{\"type\":\"record\",\"name\":\"Row\",\"namespace\":\"shop\",\"fields\":[{\"name\":\"note\",\"type\":\"string\"},"
        + "{\"name\":\"key\",\"aliases\":[\"id\"],\"type\":\"long\"},{\"name\":\"state\",\"type\":[\"null\",\"string\"],\"default\":null}]}";
    json("what the reader's schema wants of it, with its default", order, record(order, 7, "n", "e"), "{'note':'n','key':7,'state':null}",
        wanted);
  }

  static void json(String name, Schema schema, GenericRecord value, String expected) throws Exception {
    json(name, schema, value, expected, null);
  }

  static void json(String name, Schema schema, GenericRecord value, String expected, String readerSchema) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    JsonEncoder encoder = EncoderFactory.get().jsonEncoder(schema, out);
    new GenericDatumWriter<GenericRecord>(schema, DATA).write(value, encoder);
    encoder.flush();
    String hint = "{\"encoding\":\"avro-json\",\"schema\":{\"schemaType\":\"AVRO\",\"schema\":" + quote(schema.toString()) + "}"
        + (readerSchema == null ? "" : ",\"readerSchema\":" + quote(readerSchema)) + "}";
    line(name, "org.apache.avro:avro 1.11.4, JsonEncoder", "none+avro-json+none", "\"options\":{\"topics\":{\"inv.orders\":{\"value\":" + hint + "}}}",
        "\"event\":{\"kind\":\"row\",\"row\":" + expected.replace('\'', '"') + "}", out.toByteArray());
  }

  static void files() throws Exception {
    String from = "org.apache.avro:avro 1.11.4, DataFileWriter";
    CodecFactory[] codecs = {CodecFactory.nullCodec(), CodecFactory.deflateCodec(9), CodecFactory.snappyCodec()};
    String[] names = {"null", "deflate", "snappy"};
    Schema order = row("{'name':'id','type':'int'},{'name':'note','type':['null','string']}");
    for (int i = 0; i < codecs.length; i++) {
      container(names[i] + ": records of several blocks", codecs[i], order, 2,
          List.of(record(order, 1, "a"), record(order, 2, null), record(order, 3, "c")),
          "{'kind':'row','row':{'id':1,'note':'a'}}", "{'kind':'row','row':{'id':2,'note':null}}", "{'kind':'row','row':{'id':3,'note':'c'}}");
      container(names[i] + ": bytes at the top have their length", codecs[i], schema("'bytes'"), 2,
          List.of(ByteBuffer.wrap(new byte[] {2, (byte) 0xaa}), ByteBuffer.allocate(0), ByteBuffer.wrap(new byte[] {1})),
          "{'kind':'unknown','value':{'$bytes':'02aa'}}", "{'kind':'unknown','value':{'$bytes':''}}", "{'kind':'unknown','value':{'$bytes':'01'}}");
      container(names[i] + ": one value that is all bytes", codecs[i], schema("'bytes'"), 2, List.of(ByteBuffer.wrap(new byte[] {2, 3})),
          "{'kind':'unknown','value':{'$bytes':'0203'}}");
      container(names[i] + ": text at the top", codecs[i], schema("'string'"), 2, List.of("h\u00f6her", "", "b"),
          "{'kind':'unknown','value':'h\u00f6her'}", "{'kind':'unknown','value':''}", "{'kind':'unknown','value':'b'}");
      Schema empty = row("");
      container(names[i] + ": records of no bytes", codecs[i], empty, 9, List.of(record(empty), record(empty)),
          "{'kind':'row','row':{}}", "{'kind':'row','row':{}}");
    }
    Schema empty = row("");
    error("more values of no bytes than a message may have", empty, java.util.Collections.nCopies(65_537, record(empty)), "limit-exceeded");
  }

  static void single() throws Exception {
    Schema order = row("{'name':'id','type':'int'},{'name':'note','type':['null','string']}");
    Schema price = schema("{'type':'bytes','logicalType':'decimal','precision':10,'scale':2}");
    single("bytes at the top have their length", schema("'bytes'"), ByteBuffer.wrap(new byte[] {2, 3}), "{'kind':'unknown','value':{'$bytes':'0203'}}");
    single("a decimal at the top", price, new BigDecimal("2.56"), "{'kind':'unknown','value':'2.56'}");
    single("a record", order, record(order, 150, "single"), "{'kind':'row','row':{'id':150,'note':'single'}}");
  }

  static byte[] container(CodecFactory codec, Schema schema, int perBlock, List<?> values) throws Exception {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    try (DataFileWriter<Object> writer = new DataFileWriter<>(new GenericDatumWriter<>(schema, DATA))) {
      writer.setCodec(codec).create(schema, file, new byte[16]);
      for (int i = 0; i < values.size(); i++) {
        if (i > 0 && i % perBlock == 0) {
          writer.sync();
        }
        writer.append(values.get(i));
      }
    }
    return file.toByteArray();
  }

  static void container(String name, CodecFactory codec, Schema schema, int perBlock, List<?> values, String... events) throws Exception {
    line(name, "org.apache.avro:avro 1.11.4, DataFileWriter", "ocf+avro+none", null,
        "\"events\":[" + String.join(",", events).replace('\'', '"') + "]", container(codec, schema, perBlock, values));
  }

  static void error(String name, Schema schema, List<?> values, String code) throws Exception {
    line(name, "org.apache.avro:avro 1.11.4, DataFileWriter; limits.maxZeroByteItems", null, null, "\"error\":{\"code\":\"" + code + "\"}",
        container(CodecFactory.deflateCodec(9), schema, values.size(), values));
  }

  static void single(String name, Schema schema, Object value, String event) throws Exception {
    ByteBuffer written = new BinaryMessageEncoder<Object>(DATA, schema).encode(value);
    byte[] bytes = new byte[written.remaining()];
    written.get(bytes);
    String id = String.format("fingerprint:%016x", SchemaNormalization.parsingFingerprint64(schema));
    line("single object: " + name, "org.apache.avro:avro 1.11.4, BinaryMessageEncoder", "single-object+avro+none",
        "\"schemas\":[{\"id\":\"" + id + "\",\"schema\":" + quote(schema.toString()) + "}]", "\"event\":" + event.replace('\'', '"'), bytes);
  }

  static void line(String name, String from, String formats, String more, String outcome, byte[] value) {
    System.out.println("{\"name\":" + quote(name) + ",\"from\":" + quote(from) + ",\"writtenBy\":" + quote(LIBRARY)
        + (formats == null ? "" : ",\"formats\":\"" + formats + "\"") + (more == null ? "" : "," + more) + "," + outcome
        + ",\"value\":{\"base64\":\"" + Base64.getEncoder().encodeToString(value) + "\"}}");
  }

  static String quote(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }
}
