import { isUtf8 } from "node:buffer";
import type { Candidate } from "../explanation.ts";
import { compileAvroReader } from "../encoding/avro/reader.ts";
import { parseAvroSchema } from "../encoding/avro/schema.ts";
import { isConnectSchema } from "../encoding/connect-json/schema.ts";
import { skipByteOrderMark } from "../encoding/json/byte-order-mark.ts";
import { isJsonObject, parseJson } from "../encoding/json/parse.ts";
import { readEverything } from "../encoding/reader.ts";
import { apicurio } from "../framing/apicurio/recognise.ts";
import { confluent, confluentId, frameLength } from "../framing/confluent/recognise.ts";
import type { Framing, Side } from "../framing/framing.ts";
import { none } from "../framing/none/recognise.ts";
import type { KafkaRecord } from "../record.ts";
import { type Engine, envelopes } from "./engine.ts";
import { loadSchema } from "./load-schema.ts";

/** Most specific first, as the decoder takes them. */
const framings: readonly Framing[] = [apicurio, confluent, none];

/** Every candidate of every layer for one record, tried without the memory of its topic. */
export async function explainCandidates(record: KafkaRecord, engine: Engine): Promise<readonly Candidate[]> {
  const key = record.key === null ? [] : await explainSide(record, "key", record.key, engine);
  const value = record.value === null ? [] : await explainSide(record, "value", record.value, engine);
  return [...key, ...value];
}

async function explainSide(record: KafkaRecord, side: Side, raw: Uint8Array, engine: Engine): Promise<Candidate[]> {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const verdicts = framings.map((framing) => ({
    framing,
    evidence: framing.recognise({
      side,
      bytes,
      start: 0,
      end: bytes.length,
      headers: record.headers,
      maxBytes: engine.limits.maxMessageBytes,
    }),
  }));
  const winner = verdicts.find(({ evidence }) => evidence !== null)?.framing.name;
  const candidates: Candidate[] = verdicts.map(({ framing, evidence }) => ({
    side,
    layer: "framing",
    name: framing.name,
    won: framing.name === winner,
    evidence: evidence === null ? "its mark is not there" : framing.name === winner ? evidence : `${evidence}; ${winner} is more specific`,
  }));
  const encodings = await explainEncodings(bytes, engine, winner ?? "none");
  if (side === "key" && winner === "none" && encodings.every(({ won }) => !won)) {
    encodings.push(rawKey(bytes));
  }
  candidates.push(...encodings.map(({ name, won, evidence }): Candidate => ({ side, layer: "encoding", name, won, evidence })));
  if (side === "value") {
    candidates.push(
      ...explainEnvelopes(record, encodings.find(({ won }) => won)?.fields ?? null, encodings.find(({ won }) => won)?.typeName ?? null),
    );
  }
  return candidates;
}

interface EncodingVerdict {
  readonly name: string;
  readonly won: boolean;
  readonly evidence: string;
  readonly fields?: readonly string[] | null;
  readonly typeName?: string | null;
}

async function explainEncodings(bytes: Buffer, engine: Engine, framing: string): Promise<EncodingVerdict[]> {
  if (framing === "apicurio") {
    return [{ name: "avro", won: false, evidence: "Apicurio's own framings are not supported yet" }];
  }
  const avro = framing === "confluent" ? await explainAvro(bytes, engine) : lost("avro", "no framing names a schema");
  const [connect, json] = explainJson(bytes, engine);
  return avro.won ? [avro, lost("connect-json", "the payload is Avro"), lost("json", "the payload is Avro")] : [avro, connect, json];
}

/** What a key is that is neither framed nor JSON. */
function rawKey(bytes: Buffer): EncodingVerdict {
  return isUtf8(bytes)
    ? { name: "text", won: true, evidence: "a key that is neither framed nor JSON, and valid UTF-8" }
    : { name: "bytes", won: true, evidence: "a key that is neither framed nor JSON, and not UTF-8" };
}

function lost(name: string, evidence: string): EncodingVerdict {
  return { name, won: false, evidence };
}

async function explainAvro(bytes: Buffer, engine: Engine): Promise<EncodingVerdict> {
  const id = confluentId(bytes, 0, bytes.length);
  try {
    const isAtHand = engine.schemas !== null && engine.schemas.peek(id) !== undefined;
    const failure = isAtHand ? null : engine.schemas === null ? new Error("no schema source") : await loadSchema(engine, id);
    const registered = engine.schemas?.peek(id);
    if (failure !== null || registered === undefined) {
      return lost("avro", failure?.message ?? `schema id ${id} is not known`);
    }
    if (registered.schemaType !== "AVRO") {
      return lost("avro", `schema id ${id} is of type ${registered.schemaType}`);
    }
    const type = parseAvroSchema(registered.schema, registered.references ?? [], engine.limits);
    compileAvroReader(type, engine.compileOptions(readEverything)).read(bytes, frameLength, bytes.length);
    const isRecord = type.kind === "record";
    return {
      name: "avro",
      won: true,
      evidence: `schema id ${id}${isRecord && type.name !== null ? ` (${type.name})` : ""} consumes all ${bytes.length - frameLength} payload bytes`,
      fields: isRecord ? type.fields.map((field) => field.name) : null,
      typeName: isRecord ? type.name : null,
    };
  } catch (error) {
    return lost("avro", error instanceof Error ? error.message : String(error));
  }
}

function explainJson(bytes: Buffer, engine: Engine): [EncodingVerdict, EncodingVerdict] {
  let value: unknown;
  try {
    value = parseJson(bytes, skipByteOrderMark(bytes, 0, bytes.length), bytes.length, engine.parse);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [lost("connect-json", reason), lost("json", reason)];
  }
  if (isJsonObject(value) && Object.keys(value).length === 2 && "schema" in value && "payload" in value) {
    const { schema, payload } = value;
    if (schema === null || isConnectSchema(schema)) {
      const fields = isJsonObject(payload) ? Object.keys(payload) : null;
      const typeName = isJsonObject(schema) && typeof schema["name"] === "string" ? schema["name"] : null;
      const won: EncodingVerdict = {
        name: "connect-json",
        won: true,
        evidence: "exactly the fields schema and payload, and a Connect schema",
        fields,
        typeName,
      };
      return [won, lost("json", "connect-json is more specific")];
    }
  }
  const fields = isJsonObject(value) ? Object.keys(value) : null;
  return [
    lost("connect-json", "not exactly the fields schema and payload"),
    { name: "json", won: true, evidence: `all ${bytes.length} bytes are one JSON value`, fields },
  ];
}

function explainEnvelopes(record: KafkaRecord, fields: readonly string[] | null, typeName: string | null): Candidate[] {
  const shape = {
    topic: record.topic,
    typeName,
    fields,
    fieldsOf: () => null,
    isText: false,
    headerNames: record.headers.map(([name]) => name),
  };
  const verdicts = envelopes.map((envelope) => ({ name: envelope.name, evidence: envelope.recognise(shape) }));
  const winner = verdicts.find(({ evidence }) => evidence !== null)?.name;
  return verdicts.map(({ name, evidence }) => ({
    side: "value",
    layer: "envelope",
    name,
    won: name === winner,
    evidence: evidence === null ? "its fields are not there" : name === winner ? evidence : `${evidence}; ${winner} is more specific`,
  }));
}
