import type { Random } from "./random.ts";

/** Makes other bytes of a message's, whatever they mean. `other` is a message to take parts from. */
export type ByteMutation = (bytes: Buffer, random: Random, other: Buffer) => Buffer;

const flipBit: ByteMutation = (bytes, random) => {
  const changed = Buffer.from(bytes);
  const at = random.below(Math.max(bytes.length, 1));
  changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8));
  return changed;
};

const otherByte: ByteMutation = (bytes, random) => {
  const changed = Buffer.from(bytes);
  changed[random.below(Math.max(bytes.length, 1))] = random.below(256);
  return changed;
};

const cut: ByteMutation = (bytes, random) => bytes.subarray(0, random.below(bytes.length + 1));

const removePart: ByteMutation = (bytes, random) => {
  const at = random.below(bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(8))]);
};

const repeatPart: ByteMutation = (bytes, random) => {
  const at = random.below(bytes.length + 1);
  const end = at + 1 + random.below(64);
  return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)]);
};

const splice: ByteMutation = (bytes, random, other) => {
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

const edgeByte: ByteMutation = (bytes, random) => {
  const at = random.below(bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, at), random.pick(edges), bytes.subarray(at + 1)]);
};

/** A length or a small number, one more or less. */
const editLength: ByteMutation = (bytes, random) => {
  const changed = Buffer.from(bytes);
  const at = random.below(Math.max(bytes.length, 1));
  changed[at] = (changed[at] ?? 0) + (random.chance(0.5) ? 2 : 254);
  return changed;
};

/** What text is made of between its values. */
const punctuation: ByteMutation = (bytes, random) => {
  const at = random.below(bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(random.pick([...'",:{}[]\\ \n'])), bytes.subarray(at + random.below(2))]);
};

export const byteMutations: readonly ByteMutation[] = [
  flipBit,
  flipBit,
  otherByte,
  cut,
  removePart,
  repeatPart,
  splice,
  edgeByte,
  editLength,
  punctuation,
];
