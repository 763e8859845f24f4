/**
 * Counts what values cost while they are read. Two bytes can stand for an empty message, a map or a timestamp, which take a hundred times
 * as long to make as the bytes took to read. Real messages do not consist of such values alone. Numbers and short texts are not counted:
 * their bytes pay for them.
 *
 * One unit of cost is about a nanosecond of a reader, garbage collection included. A message may cost `limits.maxCostPerByte` for each of
 * its bytes.
 */
import { DecodeError } from "../../errors.ts";
import type { Cursor } from "./cursor.ts";

/** What each thing costs. A slot of a wide object costs more, because the runtime keeps such objects in a slower form. */
export const costOf = {
  object: 110,
  slot: 20,
  wideSlot: 110,
  list: 80,
  map: 550,
  pair: 500,
  buffer: 300,
  text: 250,
  any: 1_000,
  /** Another part of a message that came in several parts. The closures read it. */
  part: 330,
  converted: 60,
} as const;

/** Objects with more slots than this are slow to make and slow to fill. */
const maxNarrow = 48;
/** The cost of setting a field in an object of a thousand fields. */
const wideFieldCost = 420;
const wideFields = 512;

/** The cost of making an object, before any field is set. */
export function objectCost(slots: number): number {
  return costOf.object + Math.min(slots, maxNarrow) * costOf.slot + Math.max(0, slots - maxNarrow) * costOf.wideSlot;
}

/** The cost of each field that is set in an object. */
export function setCost(slots: number): number {
  return Math.round(wideFieldCost * Math.max(0, Math.min(1, (slots - maxNarrow) / wideFields)));
}

/** The cost of a text key that no map of this message had before: the runtime interns each one. */
const keyCost = 1_300;
/** At most so many keys are remembered per message. */
const maxKeys = 1_024;
/** The cost of a byte that is read a second time. */
const rereadCost = 16;
/** The cost of a byte of a long decimal, which is two or three digits. */
const digitsCost = 105;
/** Decimals up to this length all cost the same. */
const maxShortBytes = 32;
/** A shorter message has the budget of a message of this length. */
export const minMeteredBytes = 1_048_576;

/** The budget of a message of this length. */
export function costBudget(at: Cursor, length: number): number {
  return at.maxCostPerByte * Math.max(length, at.minMeteredBytes);
}

/** Takes a cost from the message's budget. */
export function addCost(at: Cursor, cost: number): void {
  at.cost += cost;
  if (at.cost > at.maxCost) {
    throw tooCostly(at);
  }
}

/** The cost of bytes that are read once more: groups in groups, and messages that come in parts. */
export function addRereadCost(at: Cursor, bytes: number): void {
  addCost(at, bytes * rereadCost);
}

/** The cost of a value that is computed from bytes. A long decimal costs more for each byte. */
export function addConversionCost(at: Cursor, bytes: number): void {
  addCost(at, costOf.text + (bytes > maxShortBytes ? bytes * digitsCost : 0));
}

/** The cost of a map's pair. Maps repeat their keys, and a key that was seen before costs little. */
export function addPairCost(at: Cursor, key: unknown): void {
  addCost(at, costOf.pair);
  if (typeof key !== "string") {
    return;
  }
  at.keys ??= new Set();
  if (at.keys.has(key)) {
    return;
  }
  addCost(at, keyCost);
  if (at.keys.size < maxKeys) {
    at.keys.add(key);
  }
}

export function tooCostly(at: Cursor): DecodeError {
  return new DecodeError(
    "limit-exceeded",
    `expected a Protobuf message whose values cost at most ${at.maxCostPerByte} ns for each of its bytes, found a higher cost: messages, maps and ` +
      "byte strings that are (almost) empty, or parts that are read repeatedly; raise limits.maxCostPerByte if the message is valid, or " +
      "check whether it was written with another schema",
  );
}
