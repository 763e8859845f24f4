import { checkedEnvelope } from "./own-envelope.ts";
import { avro } from "../encoding/avro/encoding.ts";
import { avroJson } from "../encoding/avro-json/encoding.ts";
import { canalProtobuf } from "../encoding/canal-protobuf/encoding.ts";
import { cbor } from "../encoding/cbor/encoding.ts";
import { connectJson, registeredConnectJson } from "../encoding/connect-json/encoding.ts";
import { json } from "../encoding/json/encoding.ts";
import { jsonSchema } from "../encoding/json-schema/encoding.ts";
import { kafkaPrimitives } from "../encoding/kafka-primitive/encoding.ts";
import { messagePack } from "../encoding/msgpack/encoding.ts";
import { protobuf } from "../encoding/protobuf/encoding.ts";
import { bytes, text } from "../encoding/raw/encoding.ts";
import type { PlainEncoding, SchemaEncoding } from "../encoding/schema-encoding.ts";
import type { TextEncoding } from "../encoding/text-encoding.ts";
import { canal } from "../envelope/canal/envelope.ts";
import { cloudevents } from "../envelope/cloudevents/envelope.ts";
import { cockroachdb } from "../envelope/cockroachdb/envelope.ts";
import { bareChange, flinkChange } from "../envelope/debezium/bare.ts";
import { debezium } from "../envelope/debezium/envelope.ts";
import { keyedHeartbeat } from "../envelope/debezium/heartbeat.ts";
import { deltaforge } from "../envelope/deltaforge/envelope.ts";
import { dms } from "../envelope/dms/envelope.ts";
import type { EnvelopeFormat } from "../envelope/envelope.ts";
import { flattened } from "../envelope/flattened/envelope.ts";
import { goldengate } from "../envelope/goldengate/envelope.ts";
import { maxwell } from "../envelope/maxwell/envelope.ts";
import { mongodb } from "../envelope/mongodb/envelope.ts";
import { none as noEnvelope } from "../envelope/none/envelope.ts";
import { oracleCdc } from "../envelope/oracle-cdc/envelope.ts";
import { outbox } from "../envelope/outbox/envelope.ts";
import { qlik } from "../envelope/qlik/envelope.ts";
import { ticdcAvro } from "../envelope/ticdc-avro/envelope.ts";
import { ticdcCanalJson } from "../envelope/ticdc-canal-json/envelope.ts";
import { ticdcOpenIn } from "../envelope/ticdc-open/envelope.ts";
import { ticdcSimple } from "../envelope/ticdc-simple/envelope.ts";
import { wal2json } from "../envelope/wal2json/envelope.ts";
import { apicurio, apicurioHeaderWith, apicurioJson, apicurioJsonWith, apicurioWith } from "../framing/apicurio/recognise.ts";
import { azure, azureHeader } from "../framing/azure/recognise.ts";
import { buf } from "../framing/buf/recognise.ts";
import { confluentGuid, confluentGuidHeader } from "../framing/confluent-guid/recognise.ts";
import { glue } from "../framing/glue/recognise.ts";
import { ocf } from "../framing/ocf/recognise.ts";
import { singleObject } from "../framing/single-object/recognise.ts";
import { confluent } from "../framing/confluent/recognise.ts";
import type { Framing } from "../framing/framing.ts";
import { none as noFraming } from "../framing/none/recognise.ts";
import { ticdc, ticdcMaxwell } from "../framing/ticdc/recognise.ts";
import type { CdcEvent } from "../event.ts";
import type { ApicurioIdSpace } from "../options.ts";

/** Every format that a decoder knows, by layer, the most specific first. */
export interface Formats {
  /**
   * The framings with `headerNames` are asked first, if a record has one of the headers. Then come those with `isAskedFirst`, and then the
   * others in this order, if their `prefixes` fit. The last one accepts every message.
   */
  readonly framings: readonly Framing[];
  /** Found by the schema type that a source returns, or by name if the framing names the encoding. */
  readonly schemaEncodings: readonly SchemaEncoding[];
  /** Used only if the user hints them for a topic. */
  readonly plainEncodings: readonly PlainEncoding[];
  /** The first one that recognises the shape of a value opens it. The last one recognises every shape. */
  readonly envelopes: readonly EnvelopeFormat[];
}

/** The same formats, with those that detection falls back to. */
export interface AllFormats extends Formats {
  /** Encodings that are recognised by the text itself. */
  readonly textEncodings: readonly TextEncoding[];
  /** Encodings of keys that nothing recognises. */
  readonly raw: { readonly text: PlainEncoding; readonly bytes: PlainEncoding };
}

const framings: readonly Framing[] = [
  confluentGuidHeader,
  apicurioHeaderWith(avroJson.name),
  azureHeader,
  buf,
  ocf,
  singleObject,
  glue,
  confluentGuid,
  ticdc,
  ticdcMaxwell,
  apicurio,
  apicurioJson,
  azure,
  confluent,
  noFraming,
];

const schemaEncodings: readonly SchemaEncoding[] = [avro, avroJson, jsonSchema, protobuf, registeredConnectJson];

const plainEncodings: readonly PlainEncoding[] = [messagePack, cbor, canalProtobuf, ...kafkaPrimitives];

const envelopes: readonly EnvelopeFormat[] = [
  deltaforge,
  cockroachdb,
  debezium,
  keyedHeartbeat,
  bareChange,
  flinkChange,
  cloudevents,
  ticdcCanalJson,
  ticdcOpenIn(ticdc.name),
  ticdcSimple,
  ticdcAvro,
  maxwell,
  canal,
  goldengate,
  oracleCdc,
  dms,
  wal2json,
  qlik,
  mongodb,
  flattened,
  outbox,
  noEnvelope,
];

/** Encodings that are recognised by the text itself, the most specific first. */
const textEncodings: readonly TextEncoding[] = [connectJson, json];

/**
 * The envelopes whose untyped values are written by Debezium's converters: decimals as base64, times as numbers. Other systems write values
 * that need no type.
 */
const debeziumEnvelopes: readonly EnvelopeFormat[] = [debezium, flattened, cloudevents];

/** Whether the values of an event came without types, as Debezium's converters write them. */
export function isUntypedOfDebezium({ encoding, envelope }: CdcEvent): boolean {
  return encoding === json.name && debeziumEnvelopes.some(({ name }) => name === envelope);
}

/** The built-in formats, with the user's own formats before them. */
export function formatsWith(own: Partial<Formats> = {}, apicurioIds: ApicurioIdSpace | null = null): AllFormats {
  const declared = new Map([
    [apicurio, apicurioWith(apicurioIds)],
    [apicurioJson, apicurioJsonWith(apicurioIds)],
  ]);
  const builtIn = framings.map((framing) => declared.get(framing) ?? framing);
  return {
    textEncodings,
    raw: { text, bytes },
    framings: [...(own.framings ?? []), ...builtIn],
    schemaEncodings: [...(own.schemaEncodings ?? []), ...schemaEncodings],
    plainEncodings: [...(own.plainEncodings ?? []), ...plainEncodings],
    envelopes: [...(own.envelopes ?? []).map(checkedEnvelope), ...envelopes],
  };
}
