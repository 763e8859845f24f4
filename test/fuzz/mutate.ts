import type { KafkaRecord } from "@cdckit/decode";
import type { Random } from "./random.ts";

/** Makes other bytes of a message's. `other` is a message of the corpus to take parts from. */
type Mutation = (bytes: Buffer, random: Random, other: Buffer) => Buffer;

const magicByte = 0;
const openBrace = 0x7b;

/** The record with its value, or its key, changed in one to three places. */
export function mutated(record: KafkaRecord, other: KafkaRecord, random: Random): KafkaRecord {
  const changesKey = record.value === null || (record.key !== null && random.chance(0.15));
  const bytes = changesKey ? record.key : record.value;
  if (bytes === null) {
    return record;
  }
  let changed: Buffer = Buffer.from(bytes);
  const source = Buffer.from((changesKey ? other.key : other.value) ?? []);
  for (let times = 1 + (random.chance(0.3) ? random.below(3) : 0); times > 0; times--) {
    changed = random.pick(mutationsFor(changed))(changed, random, source);
  }
  return changesKey ? { ...record, key: changed } : { ...record, value: changed };
}

function mutationsFor(bytes: Buffer): readonly Mutation[] {
  return bytes[0] === openBrace ? jsonMutations : bytes[0] === magicByte ? framedMutations : byteMutations;
}

const flipBit: Mutation = (bytes, random) => {
  const changed = Buffer.from(bytes);
  const at = random.below(Math.max(bytes.length, 1));
  changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8));
  return changed;
};

const cut: Mutation = (bytes, random) => bytes.subarray(0, random.below(bytes.length + 1));

const removePart: Mutation = (bytes, random) => {
  const at = random.below(bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(8))]);
};

const repeatPart: Mutation = (bytes, random) => {
  const at = random.below(bytes.length + 1);
  const end = at + 1 + random.below(64);
  return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)]);
};

const splice: Mutation = (bytes, random, other) => {
  const at = random.below(bytes.length + 1);
  const from = random.below(other.length + 1);
  const part = other.subarray(from, from + random.below(48));
  return Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at + random.below(part.length + 1))]);
};

/** The bytes that lengths, counts, branches and signs are made of at their edges. */
const edges: readonly Buffer[] = [
  "00",
  "01",
  "02",
  "7f",
  "80",
  "ff",
  "ffffffff0f",
  "feffffffffffffffff01",
  "ffffffffffffffffff01",
  "80808080808080808001",
].map((hex) => Buffer.from(hex, "hex"));

const edgeByte: Mutation = (bytes, random) => {
  const at = random.below(bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, at), random.pick(edges), bytes.subarray(at + 1)]);
};

/** A length or a small number, one more or less. */
const editLength: Mutation = (bytes, random) => {
  const changed = Buffer.from(bytes);
  const at = 5 + random.below(Math.max(bytes.length - 5, 1));
  if (at < changed.length) {
    changed[at] = (changed[at] ?? 0) + (random.chance(0.5) ? 2 : 254);
  }
  return changed;
};

/** Text of the same length: what stays decodable most often. */
const otherText: Mutation = (bytes, random) => {
  const changed = Buffer.from(bytes);
  for (let at = 5 + random.below(changed.length), tries = 64; tries > 0; at++, tries--) {
    const byte = changed[at % changed.length] as number;
    if (byte > 0x60 && byte < 0x7b && at >= 5) {
      changed[at % changed.length] = 0x61 + random.below(26);
      break;
    }
  }
  return changed;
};

const otherSchemaId: Mutation = (bytes, random, other) => {
  const changed = Buffer.from(bytes);
  if (other[0] === magicByte && other.length > 5 && random.chance(0.7)) {
    other.copy(changed, 0, 0, Math.min(5, changed.length));
  } else if (changed.length > 4) {
    changed[4] = random.below(80);
  }
  return changed;
};

/** A JSON token: a string, a number or a word. */
const token = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null/g;

const replacements: readonly string[] = (
  '0 -0 1 -1 1.5 1e2 1e400 -1e-400 9007199254740993 -9223372036854775808 18446744073709551615 1723115239782690123 01 - 1-2 .5 null true false "" ' +
  '"x" "NaN" "__debezium_unavailable_value" "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==" "MDk=" "A*==" "\\u0000" "\\ud800" "\\x" "é" [] {} [1,"2"] ' +
  '[[["1"]]] {"a":{"b":1}} {"__proto__":1} "c" "d" "x" "BEGIN" {"type":"string"} ["__debezium_unavailable_value"] "2017-09-15Z" 99999999999999999999999'
).split(" ");

/** The payload half, where there are two: the schema is long, and a change in it is a change of everything. */
function payloadStart(text: string, random: Random): number {
  const at = text.lastIndexOf('"payload":');
  return at < 0 || random.chance(0.1) ? 0 : at + '"payload":'.length;
}

function editToken(bytes: Buffer, random: Random, edit: (token: string, text: string) => string): Buffer {
  const text = bytes.toString("latin1");
  const start = payloadStart(text, random);
  const matches = [...text.slice(start).matchAll(token)];
  if (matches.length === 0) {
    return bytes;
  }
  const { 0: found, index } = random.pick(matches);
  const at = start + index;
  return Buffer.from(text.slice(0, at) + edit(found, text) + text.slice(at + found.length), "latin1");
}

const replaceValue: Mutation = (bytes, random) =>
  editToken(bytes, random, (found) =>
    found.startsWith('"') && random.chance(0.6) ? otherWord(found, random) : utf8(random.pick(replacements)),
  );

function utf8(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** A string for a string: names stay names, so that most of these are read. */
function otherWord(found: string, random: Random): string {
  const at = 1 + random.below(Math.max(found.length - 2, 1));
  return found.length < 3 ? found : `${found.slice(0, at)}${String.fromCharCode(0x61 + random.below(26))}${found.slice(at + 1)}`;
}

const replaceNumber: Mutation = (bytes, random) =>
  editToken(bytes, random, (found) =>
    /^[-0-9]/.test(found) ? String((random.below(2 ** 31) - 2 ** 30) * (random.chance(0.2) ? 4_194_301 : 1)) : found,
  );

const punctuation: readonly string[] = [",", ":", "{", "}", "[", "]", '"', "\\", " ", "\n"];

const editPunctuation: Mutation = (bytes, random) => {
  const at = random.below(bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(random.pick(punctuation)), bytes.subarray(at + random.below(2))]);
};

const insertSpace: Mutation = (bytes, random) => {
  const text = bytes.toString("latin1");
  const places = [...text.matchAll(/[,:{}]/g)];
  const at = (places.length === 0 ? 0 : random.pick(places).index) + 1;
  const isInString = (text.slice(0, at).match(/(?<!\\)"/g) ?? []).length % 2 === 1;
  return isInString ? bytes : Buffer.from(`${text.slice(0, at)}${random.pick([" ", "\n", "\t "])}${text.slice(at)}`, "latin1");
};

/** A property more, or the same once more. */
const insertProperty: Mutation = (bytes, random) => {
  const text = bytes.toString("latin1");
  const start = payloadStart(text, random);
  const brace = text.indexOf("{", start);
  const names = [...text.slice(start).matchAll(/"([a-z_]+)":/g)].map(([, name]) => name as string);
  const name = random.pick([...names, "__proto__", "constructor", "op", "payload", "schema", "__op", "__deleted", "ddl"]);
  const rest = text.slice(brace + 1);
  const property = `"${name}":${utf8(random.pick(replacements))}${rest.startsWith("}") ? "" : ","}`;
  return brace < 0 ? bytes : Buffer.from(text.slice(0, brace + 1) + property + rest, "latin1");
};

/** Another message's schema before this one's payload, and the other way round. */
const swapSchema: Mutation = (bytes, _random, other) => {
  const at = bytes.indexOf(',"payload":');
  const from = other.indexOf(',"payload":');
  return at < 0 || from < 0 ? bytes : Buffer.concat([other.subarray(0, from), bytes.subarray(at)]);
};

const byteMutations: readonly Mutation[] = [flipBit, cut, removePart, repeatPart, splice, edgeByte];
const framedMutations: readonly Mutation[] = [
  ...byteMutations,
  editLength,
  editLength,
  otherText,
  otherText,
  otherText,
  otherText,
  otherSchemaId,
];
const jsonMutations: readonly Mutation[] = [
  ...byteMutations,
  replaceValue,
  replaceValue,
  replaceValue,
  replaceNumber,
  replaceNumber,
  replaceNumber,
  otherText,
  editPunctuation,
  insertSpace,
  insertSpace,
  insertProperty,
  insertProperty,
  swapSchema,
];
