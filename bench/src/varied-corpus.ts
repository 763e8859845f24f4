import type { KafkaRecord, RegisteredSchema, SchemaSource } from "@cdckit/decode";
import type avsc from "avsc";
import { avscTypes } from "./avsc-peer.ts";
import { type Corpus, type CorpusName, recorded } from "./corpus.ts";
import { protobufCorpus } from "./protobuf-corpus.ts";

/** What is written of a recorded row: an operation of Debezium's, or the tombstone after a delete. */
export type Operation = "c" | "u" | "d" | "tombstone";

/** What one message is made of. */
export interface Written {
  readonly operation: Operation;
  /** The number of its table. Each table has a topic and schemas of its own. */
  readonly table: number;
  /** The version of the table. Each version has another column at the end of its rows. 0: as recorded. */
  readonly version: number;
  /** The topic, if it is not that of the table. */
  readonly topic?: string;
  /** The length of the row's text column. 0: as recorded. */
  readonly textBytes: number;
}

/** Writes one recorded row in another way. */
type Writer = (nth: number, written: Written) => Pick<KafkaRecord, "key" | "value">;

export const asRecorded: Written = { operation: "c", table: 0, version: 0, textBytes: 0 };

/** How values are written: Debezium's envelope through one converter each, rows without an envelope, and Maxwell's documents. */
export type Encoding = CorpusName | "rows-json" | "rows-avro" | "maxwell";

/** `count` messages. The nth is made of a recorded row, as `describe` says. */
export async function variedCorpus(encoding: Encoding, count: number, describe: (nth: number) => Written): Promise<Corpus> {
  const isAvro = encoding === "confluent-avro" || encoding === "confluent-protobuf" || encoding === "rows-avro";
  const base = await recorded(isAvro ? "confluent-avro" : encoding === "json-with-schema" ? encoding : "json");
  const schemas = new AvroSchemas(base.schemas);
  const write = isAvro ? avroWriter(base, schemas, encoding === "rows-avro") : textWriter(base, encoding);
  const records = Array.from({ length: count }, (_, nth): KafkaRecord => {
    const record = base.records[nth % base.records.length] as KafkaRecord; // within bounds
    const written = describe(nth);
    return { ...record, topic: written.topic ?? topicOf(record.topic, written.table), offset: BigInt(nth), ...write(nth, written) };
  });
  const corpus = { name: base.name, records, schemas };
  return encoding === "confluent-protobuf" ? protobufCorpus(corpus) : corpus;
}

function topicOf(recordedTopic: string, table: number): string {
  return table === 0 ? recordedTopic : `${recordedTopic}${table}`;
}

const recordedTable = "salesorderdetailbig";

/** Names of the table in a text: of schemas, and of the source block. */
function ofTable(text: string, table: number): string {
  return table === 0 ? text : text.replaceAll(recordedTable, `${recordedTable}${table}`);
}

function textWriter({ records }: Corpus, encoding: Encoding): Writer {
  return (nth, { operation, table, version, textBytes }) => {
    const { key, value } = records[nth % records.length] as KafkaRecord;
    const text = ofTable(String(value), table);
    const row = rowIn(text, version, textBytes);
    return {
      key: Buffer.from(ofTable(String(key), table)),
      value: operation === "tombstone" ? null : Buffer.from(valueText(encoding, text, { row, operation, version, table })),
    };
  };
}

function rowIn(text: string, version: number, textBytes: number): string {
  const recordedRow = text.slice(text.lastIndexOf(`"after":{`) + `"after":`.length, text.lastIndexOf(`,"source":{`));
  const row = version === 0 ? recordedRow : `${recordedRow.slice(0, -1)},"added${version}":${version}}`;
  return textBytes === 0
    ? row
    : row.replace(/"carriertrackingnumber":(null|"[^"]*")/, `"carriertrackingnumber":"${"x".repeat(textBytes)}"`);
}

interface TextParts {
  readonly row: string;
  readonly operation: Operation;
  readonly table: number;
  readonly version: number;
}

function valueText(encoding: Encoding, text: string, { row, operation, version, table }: TextParts): string {
  if (encoding === "rows-json") {
    return row;
  }
  if (encoding === "maxwell") {
    const type = { c: "insert", u: "update", d: "delete", tombstone: "delete" }[operation];
    const old = operation === "u" ? `,"old":{"orderqty":1}` : "";
    return `{"database":"sales","table":"${ofTable(recordedTable, table)}","type":"${type}","ts":1795244642,"xid":744,"commit":true,"data":${row}${old}}`;
  }
  const images = `"before":${operation === "c" ? "null" : row},"after":${operation === "d" ? "null" : row}`;
  const payload = `{${images}${text.slice(text.lastIndexOf(`,"source":{`)).replace(/"op":"r"/, `"op":"${operation}"`)}`;
  if (encoding !== "json-with-schema") {
    return payload;
  }
  const schema = text.slice(0, text.indexOf(`"payload":`) + `"payload":`.length);
  const column = `,{"type":"int32","optional":true,"field":"added${version}"}],"optional":true,"name":"js.sales.`;
  return `${version === 0 ? schema : schema.replaceAll(`],"optional":true,"name":"js.sales.`, column)}${payload}`;
}

interface Row {
  carriertrackingnumber: string | null;
}

interface Envelope {
  readonly before: Row | null;
  readonly after: Row;
  readonly source: object;
}

function avroWriter({ records, schemas: recordedSchemas }: Corpus, schemas: AvroSchemas, isRow: boolean): Writer {
  const recordedType = avscTypes(recordedSchemas, [2]).get(2) as avsc.Type;
  return (nth, { operation, table, version, textBytes }) => {
    const { key, value } = records[nth % records.length] as KafkaRecord;
    const { keyId, valueId, type } = schemas.of(table, version, isRow);
    const envelope = recordedType.fromBuffer((value as Buffer).subarray(5)) as Envelope;
    const row: Row = { ...envelope.after, ...(version === 0 ? {} : { [`added${version}`]: version }) };
    row.carriertrackingnumber = textBytes === 0 ? row.carriertrackingnumber : "x".repeat(textBytes);
    const source = { ...envelope.source, table: ofTable(recordedTable, table) };
    const [before, after] = [operation === "c" ? null : row, operation === "d" ? null : row];
    const framedValue = (): Buffer => framed(valueId, type.toBuffer(isRow ? row : { ...envelope, before, after, source, op: operation }));
    return { key: framed(keyId, (key as Buffer).subarray(5)), value: operation === "tombstone" ? null : framedValue() };
  };
}

function framed(id: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeInt32BE(id, 1);
  return Buffer.concat([head, payload]);
}

interface AvroSchema {
  readonly keyId: number;
  readonly valueId: number;
  readonly type: avsc.Type;
}

/** The recorded schemas, and those of other tables and versions, as a registry numbers them. */
class AvroSchemas implements SchemaSource {
  readonly #recorded: SchemaSource;
  readonly #byId = new Map<unknown, RegisteredSchema>();
  readonly #known = new Map<string, AvroSchema>();

  constructor(recordedSchemas: SchemaSource) {
    this.#recorded = recordedSchemas;
  }

  peek(id: unknown): RegisteredSchema | undefined {
    return this.#byId.get(id) ?? this.#recorded.peek(id as number);
  }

  load(id: unknown): Promise<RegisteredSchema> {
    return Promise.reject(new Error(`the corpus has no schema ${String(id)}`));
  }

  of(table: number, version: number, isRow: boolean): AvroSchema {
    const name = `${table} ${version}`;
    const known = this.#known.get(name) ?? this.#make(table, version, isRow);
    this.#known.set(name, known);
    return known;
  }

  #make(table: number, version: number, isRow: boolean): AvroSchema {
    if (table === 0 && version === 0 && !isRow) {
      return { keyId: 1, valueId: 2, type: avscTypes(this, [2]).get(2) as avsc.Type };
    }
    const keyId = 3 + 2 * this.#known.size;
    const valueId = keyId + 1;
    const envelope = JSON.parse(ofTable(this.#recordedText(2), table)) as RecordSchema;
    const row = envelope.fields[0]?.type[1] as RecordSchema;
    if (version > 0) {
      row.fields.push({ name: `added${version}`, type: ["null", "int"], default: null });
    }
    this.#register(keyId, ofTable(this.#recordedText(1), table));
    this.#register(valueId, JSON.stringify(isRow ? { ...row, namespace: envelope.namespace } : envelope));
    return { keyId, valueId, type: avscTypes(this, [valueId]).get(valueId) as avsc.Type };
  }

  #recordedText(id: number): string {
    return this.#recorded.peek(id)?.schema ?? "";
  }

  #register(id: number, schema: string): void {
    this.#byId.set(id, { id, schemaType: "AVRO", schema });
  }
}

interface RecordSchema {
  readonly namespace: string;
  readonly fields: { readonly name: string; readonly type: readonly unknown[]; readonly default?: unknown }[];
}
