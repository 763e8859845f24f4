import { generate } from "../../encoding/codegen.ts";
import { type FastPathMatch, fastPathMiss } from "../../encoding/fast-path.ts";
import { beginsWith } from "../../encoding/same-bytes.ts";
import type { EnvelopeScope } from "../../envelope/envelope.ts";
import { Origin } from "../../envelope/origin.ts";
import type { CdcEvent } from "../../event.ts";
import type { Side } from "../../framing/framing.ts";
import type { RecordCursor } from "../../record.ts";
import type { Engine } from "../engine.ts";
import type { SideRoute } from "../route.ts";
import type { ColumnSemantics } from "../semantics/column-semantics.ts";

/**
 * The fast path for records of one topic whose key and value begin with the same bytes as those of a record that took the slow path. It
 * checks these bytes and nothing more. Returns the events of the record, or {@link fastPathMiss} if the record needs the slow path. Throws
 * the same `DecodeError` as the slow path.
 */
export type FastPath = (cursor: RecordCursor) => readonly CdcEvent[] | typeof fastPathMiss;

/** What the fast path of one topic is compiled from. */
export interface FastPathParts {
  readonly engine: Engine;
  readonly scope: EnvelopeScope;
  /** Null: records without keys. */
  readonly key: FastPathMatch | null;
  readonly value: FastPathMatch;
  /** The route of the values. */
  readonly route: SideRoute;
  /** The semantics of the topic's columns. They may change after the fast path was compiled, so each record checks them. */
  readonly semantics: ColumnSemantics;
}

let serial = 0;

/**
 * Compiles a fast path as generated code, so that each topic has its own function. V8 inlines a call only if it has always led to the same
 * function. If topics, or key and value, share a call, decoding takes a tenth longer. Bench case: `npm run bench -- tiers`, "fastPath".
 * Null if code may not be generated: all records then take the slow path.
 */
export function compileFastPath({ engine, scope, key, value, route, semantics }: FastPathParts): FastPath | null {
  if (!engine.codeGeneration || !engine.tiers.fastPath) {
    return null;
  }
  serial++;
  const { embeddedJsonBudget, limits } = engine;
  const { maxMessageBytes } = limits;
  const names = {
    engine,
    embeddedJsonBudget,
    maxMessageBytes,
    scope,
    key,
    value,
    route,
    envelopeFormat: route.envelopeFormat,
    semantics,
    beginsWith,
    fastPathMiss,
    Origin,
  };
  return generate(source(serial, key, value), names) as FastPath; // the source returns one
}

/** V8 shares what it learns about calls between functions of the same text. The serial number makes each text different. */
function source(nth: number, key: FastPathMatch | null, value: FastPathMatch): string {
  return `
const keyReader = key?.reader, keyPrefix = key?.prefix, valueReader = value.reader, valuePrefix = value.prefix, columns = value.columns;
return function fastPath(cursor) { // ${nth}
  const { keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd } = cursor;
  if (
    valueBytes === null ||
    valueEnd - valueStart > maxMessageBytes ||
    !semantics.are(columns) ||
    !(${begins("value", value.prefix)}) ||
    ${key === null ? "keyBytes !== null" : `keyBytes === null || keyEnd - keyStart > maxMessageBytes || !(${begins("key", key.prefix)})`}
  ) {
    return fastPathMiss;
  }
  embeddedJsonBudget.begin();
  const k = ${key === null ? "null" : `keyReader.read(engine.buffer(keyBytes), keyStart + ${key.prefix.length}, keyEnd)`};
  if (k === fastPathMiss) {
    return fastPathMiss;
  }
  embeddedJsonBudget.begin();
  const v = valueReader.read(engine.buffer(valueBytes), valueStart + ${value.prefix.length}, valueEnd);
  if (v === fastPathMiss || v === null) {
    return fastPathMiss;
  }
  return envelopeFormat.open(v, new Origin(k, route, scope, cursor.batch, cursor.record)) ?? fastPathMiss;
};`;
}

/** Prefixes of at most this many bytes are compared byte by byte in the generated code. */
const maxWritten = 8;

function begins(side: Side, prefix: Buffer): string {
  if (prefix.length > maxWritten) {
    return `beginsWith(${side}Bytes, ${side}Start, ${side}End, ${side}Prefix)`;
  }
  const same = [...prefix].map((byte, i) => `${side}Bytes[${side}Start + ${i}] === ${byte}`);
  return [`${side}Start + ${prefix.length} < ${side}End`, ...same].join(" && ");
}
