import { generateMaker, type Maker } from "../../encoding/codegen.ts";
import { type FastPathMatch, fastPathMiss } from "../../encoding/fast-path.ts";
import { beginsWith } from "../../encoding/same-bytes.ts";
import { viewOfText } from "../../encoding/words.ts";
import { Tombstone } from "../../envelope/control-events.ts";
import type { EnvelopeFormat, EnvelopeScope, Route } from "../../envelope/envelope.ts";
import { listWith } from "../../list-with.ts";
import { Origin } from "../../envelope/origin.ts";
import type { CdcEvent } from "../../event.ts";
import type { Side } from "../../framing/framing.ts";
import type { RecordCursor } from "../../record.ts";
import type { Engine } from "../engine.ts";
import type { ColumnSemantics } from "../semantics/column-semantics.ts";

/**
 * The fast path for records of one topic whose key and value begin with the same bytes as those of a record that took the slow path. It
 * checks these bytes and nothing more.
 */
export interface FastPath {
  /**
   * The events of the record, or {@link fastPathMiss} if this fast path does not take it. Throws the same `DecodeError` as the slow path.
   */
  readonly read: (cursor: RecordCursor) => readonly CdcEvent[] | typeof fastPathMiss;
  /** How many bytes it compares. */
  readonly keyPrefixBytes: number;
  readonly valuePrefixBytes: number;
}

/** What a fast path is compiled from. */
export interface FastPathParts {
  readonly engine: Engine;
  readonly scope: EnvelopeScope;
  /** Null: records without keys. */
  readonly key: FastPathMatch | null;
  /** Null: tombstones. */
  readonly value: FastPathMatch | null;
  /** The route of the events. */
  readonly route: Route;
  readonly envelopeFormat: EnvelopeFormat;
  /** The semantics of the topic's columns. They may change after the fast path was compiled, so each record checks them. */
  readonly semantics: ColumnSemantics;
}

/**
 * Whose code a fast path is. V8 inlines a call only if it has always led to the same function: if topics, or key and value, share a call,
 * decoding takes a tenth longer. But V8 compiles each code of its own anew, which takes as long as decoding thousands of records. Bench cases:
 * `npm run bench -- tiers`, "fastPath"; `npm run bench -- mixes --only "version|tables"`.
 */
export type CodeOwner = "own" | "shared";

/**
 * How many fast paths of one decoder get code of their own. With a thousand, each would run too rarely for V8 to compile it soon, and decoding
 * would take half as long again: `npm run bench -- mixes --only "1000 tables"`.
 */
const maxOwn = 128;

let serial = 0;

/**
 * Compiles a fast path as generated code. Null if code may not be generated (all records then take the slow path), or enough have code of
 * their own.
 */
export function compileFastPath(parts: FastPathParts, owner: CodeOwner): FastPath | null {
  const { engine, scope, key, value, route, envelopeFormat, semantics } = parts;
  if (!engine.codeGeneration || !engine.tiers.fastPath) {
    return null;
  }
  if (owner === "own" && ++engine.ownFastPaths > maxOwn) {
    return null;
  }
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
    envelopeFormat,
    semantics,
    beginsWith,
    keyView: key === null ? null : viewOfText(key.prefix),
    valueView: value === null ? null : viewOfText(value.prefix),
    fastPathMiss,
    listWith,
    Origin,
    Tombstone,
  };
  const maker = owner === "own" ? ownMaker(parts, Object.keys(names)) : sharedMaker(parts, Object.keys(names));
  const read = maker(...Object.values(names)) as FastPath["read"]; // the source returns one
  return { read, keyPrefixBytes: key?.prefix.length ?? 0, valuePrefixBytes: value?.prefix.length ?? 0 };
}

/** V8 shares what it learns about calls between functions of the same text. The serial number makes each text different. */
function ownMaker({ key, value }: FastPathParts, names: readonly string[]): Maker {
  serial++;
  return generateMaker(source(`own ${serial}`, key, value), names);
}

/** One for records with and without keys, and for tombstones. */
function sharedMaker({ engine, key, value }: FastPathParts, names: readonly string[]): Maker {
  const { sharedFastPaths } = engine;
  const kind = `${key === null ? "no key" : "key"}, ${value === null ? "tombstone" : "value"}`;
  const known = sharedFastPaths.get(kind);
  const maker = known ?? generateMaker(source("shared", key === null ? null : "key", value === null ? null : "value"), names);
  sharedFastPaths.set(kind, maker);
  return maker;
}

/** What a source is made for: this prefix, or (the name of the side) any prefix. */
type Sided = FastPathMatch | Side | null;

function source(comment: string, key: Sided, value: Sided): string {
  return `
const keyReader = key?.reader, keyPrefix = key?.prefix, valueReader = value?.reader, valuePrefix = value?.prefix, columns = value?.columns;
return function fastPath(cursor) { // ${comment}
  const { keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd } = cursor;
  if (${value === null ? "valueBytes !== null" : isNoneOf(value)} || ${key === null ? "keyBytes !== null" : isNoKeyOf(key)}) {
    return fastPathMiss;
  }
  embeddedJsonBudget.begin();
  const k = ${key === null ? "null" : "keyReader.read(engine.buffer(keyBytes), keyStart + keyPrefix.length, keyEnd)"};
  if (k === fastPathMiss) {
    return fastPathMiss;
  }
  ${value === null ? "return listWith(new Tombstone(new Origin(k, route, scope, cursor.batch, cursor.record)));" : opening}
};`;
}

function isNoneOf(value: Exclude<Sided, null>): string {
  const isLong = "valueEnd - valueStart > maxMessageBytes";
  return `valueBytes === null || ${isLong} || !semantics.are(columns) || !(${begins("value", value)})`;
}

function isNoKeyOf(key: Exclude<Sided, null>): string {
  return `keyBytes === null || keyEnd - keyStart > maxMessageBytes || !(${begins("key", key)})`;
}

const opening = `
  embeddedJsonBudget.begin();
  const v = valueReader.read(engine.buffer(valueBytes), valueStart + valuePrefix.length, valueEnd);
  if (v === fastPathMiss || v === null) {
    return fastPathMiss;
  }
  return envelopeFormat.open(v, new Origin(k, route, scope, cursor.batch, cursor.record)) ?? fastPathMiss;`;

/** Prefixes of at most this many bytes are compared byte by byte in the generated code. */
const maxWritten = 8;

function begins(side: Side, match: Exclude<Sided, null>): string {
  const prefix = typeof match === "string" ? null : match.prefix;
  if (prefix === null || prefix.length > maxWritten) {
    return `beginsWith(${side}Bytes, ${side}Start, ${side}End, ${side}Prefix, ${side}View)`;
  }
  const same = [...prefix].map((byte, i) => `${side}Bytes[${side}Start + ${i}] === ${byte}`);
  return [`${side}Start + ${prefix.length} < ${side}End`, ...same].join(" && ");
}
