import { type Decoder, type DecoderOptions, isDecodeError, type KafkaRecord, UNAVAILABLE } from "@cdckit/decode";
import { record as recordOf } from "./vector-seeds.ts";
import type { Peer } from "./peer.ts";

/** A value beside what is wrong with the text; undefined where the text is no JSON. */
type Read = { readonly value: unknown } | { readonly code: string };

/** `JSON.parse` is right about everything but integers that a double cannot hold, and the bytes that are no UTF-8. */
export function jsonPeer(decoderFor: (options: DecoderOptions) => Decoder): Peer {
  const decoder = decoderFor({});
  return ({ value }) =>
    value === null || !/^[{[]/.test(String.fromCharCode(value[0] ?? 0)) ? null : compared(decoder, Buffer.from(value));
}

/** As the one column of a row: so that no envelope and no column type makes anything else of it. */
function compared(decoder: Decoder, text: Buffer): string | null {
  const row = Buffer.concat([Buffer.from('{"f":'), text, Buffer.from("}")]);
  const ours = read(decoder, recordOf("json-peer", 0, row));
  const theirs = parsed(row);
  if (!("value" in theirs)) {
    return "value" in ours ? `JSON.parse refuses it (${theirs.code})` : null;
  }
  if (!("value" in ours)) {
    return isOurRule(ours.code, text) ? null : `JSON.parse reads it, we say ${ours.code}`;
  }
  return difference(ours.value, theirs.value, "", wideIntegersOf(row.toString()));
}

/** Depth is bounded, and a number that no double holds is refused rather than made infinite. */
function isOurRule(code: string, text: Buffer): boolean {
  return code === "limit-exceeded" || (code === "value-invalid" && /\d[eE]|\d{300}/.test(text.toString("latin1")));
}

function read(decoder: Decoder, record: KafkaRecord): Read {
  try {
    const [event] = decoder.decode(record) as readonly { toObject(): Record<string, unknown> }[];
    const object = event?.toObject() ?? {};
    return { value: object["row"] ?? object["value"] };
  } catch (error) {
    return { code: isDecodeError(error) ? error.code : "another error" };
  }
}

function parsed(text: Buffer): Read {
  try {
    return { value: JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(text)) as unknown };
  } catch (error) {
    return { code: (error as Error).name };
  }
}

/** Every integer of the text that a double may not hold. */
function wideIntegersOf(text: string): ReadonlySet<string> {
  const outside = text.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '""');
  return new Set([...outside.matchAll(/(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g)].map(([found]) => String(BigInt(found))));
}

function difference(ours: unknown, theirs: unknown, path: string, wide: ReadonlySet<string>): string | null {
  if (typeof ours === "bigint") {
    const isExact = wide.has(String(ours)) && Number(ours) === theirs;
    return isExact ? null : `${path}: an integer that is not in the text`;
  }
  if (ours === UNAVAILABLE) {
    return null; // Debezium's placeholder, in one of its forms
  }
  if (typeof theirs !== "object" || theirs === null) {
    const isRounded = typeof ours === "number" && wide.has(String(ours)) && !Number.isSafeInteger(ours);
    return Object.is(ours, theirs) && !isRounded ? null : `${path}: another value (${typeof ours})`;
  }
  if (typeof ours !== "object" || ours === null || Array.isArray(ours) !== Array.isArray(theirs)) {
    return `${path}: another kind of value (${typeof ours})`;
  }
  const names = Object.keys(theirs);
  if (names.length !== Object.keys(ours).length) {
    return `${path}: ${Object.keys(ours).length} names or items instead of ${names.length}`;
  }
  for (const name of names) {
    const found = Object.hasOwn(ours, name)
      ? difference((ours as Record<string, unknown>)[name], (theirs as Record<string, unknown>)[name], `${path}.${name}`, wide)
      : `${path}: a name is missing`;
    if (found !== null) {
      return found;
    }
  }
  return null;
}
