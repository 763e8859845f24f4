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
 * The fast path for records of one topic whose key and value begin as those of a record that took the slow path: nothing else of them is
 * looked at. Returns the record's events, or {@link fastPathMiss} if it needs the slow path. Throws the `DecodeError` that it would end in there.
 */
export type FastPath = (cursor: RecordCursor) => readonly CdcEvent[] | typeof fastPathMiss;

/** What one topic's fast path is made of. */
export interface FastPathParts {
  readonly engine: Engine;
  readonly scope: EnvelopeScope;
  /** Null: of records without keys. */
  readonly key: FastPathMatch | null;
  readonly value: FastPathMatch;
  /** How its values are read. */
  readonly route: SideRoute;
  /** Of their columns. */
  readonly semantics: ColumnSemantics;
}

let serial = 0;

/**
 * Generated, so that each topic has its own: V8 puts only a function in its place that a call has always led to, and calls that topics (or
 * key and value) share cost a tenth of decoding. `npm run bench -- tiers`, "fastPath", pays for it. Null if code may not be generated; all
 * records take the slow path then.
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

/** Functions of one text share what V8 learns of their calls: a number of its own makes the text another one. */
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

/** Prefixes of no more bytes are compared one by one. */
const maxWritten = 8;

function begins(side: Side, prefix: Buffer): string {
  if (prefix.length > maxWritten) {
    return `beginsWith(${side}Bytes, ${side}Start, ${side}End, ${side}Prefix)`;
  }
  const same = [...prefix].map((byte, i) => `${side}Bytes[${side}Start + ${i}] === ${byte}`);
  return [`${side}Start + ${prefix.length} < ${side}End`, ...same].join(" && ");
}
