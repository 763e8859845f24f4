/**
 * What values cost, counted while they are read. Two bytes can stand for an empty message, a map or a timestamp, which take a hundred times
 * what the bytes took; no message that says something consists of them. Numbers and short texts are not counted: their bytes pay for them.
 *
 * A cost is about a nanosecond of a reader, its garbage counted in; a message may spend `limits.maxCostPerByte` for each of its bytes.
 */
import { DecodeError } from "../../errors.ts";
import type { Cursor } from "./cursor.ts";

/** What things cost. A place of a wide object costs more: such objects do not fit where the runtime makes small ones. */
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
  /** A further part of a message, which the closures read. */
  part: 330,
  converted: 60,
} as const;

/** Objects of more places than this are made slowly, and slowly filled. */
const maxNarrow = 48;
/** Setting a field of an object of a thousand. */
const wideFieldCost = 420;
const wideFields = 512;

/** What an object costs, whatever is in it. */
export function objectCost(slots: number): number {
  return costOf.object + Math.min(slots, maxNarrow) * costOf.slot + Math.max(0, slots - maxNarrow) * costOf.wideSlot;
}

/** What each field costs that is set in an object. */
export function setCost(slots: number): number {
  return Math.round(wideFieldCost * Math.max(0, Math.min(1, (slots - maxNarrow) / wideFields)));
}

/** A key of a map, as text, that its message did not have before: the runtime remembers each. */
const keyCost = 1_300;
/** Keys that one message's maps repeat. */
const maxKeys = 1_024;
/** A byte that is looked at a second time. */
const rereadCost = 16;
/** A byte of a long decimal, two or three digits. */
const digitsCost = 105;
/** A decimal of fewer bytes costs what any does. */
const maxShortBytes = 32;
/** A message of fewer bytes may cost what one of these may. */
export const minMeteredBytes = 1_048_576;

/** What a message of this length may cost. */
export function costBudget(at: Cursor, length: number): number {
  return at.maxCostPerByte * Math.max(length, at.minMeteredBytes);
}

/** Takes what something costs from the message's budget. */
export function addCost(at: Cursor, cost: number): void {
  at.cost += cost;
  if (at.cost > at.maxCost) {
    throw tooCostly(at);
  }
}

/** Bytes that are looked at once more: groups in groups, and messages that come in parts. */
export function addRereadCost(at: Cursor, bytes: number): void {
  addCost(at, bytes * rereadCost);
}

/** A value made of bytes by some computation, which takes longer for each byte the more there are. */
export function addConversionCost(at: Cursor, bytes: number): void {
  addCost(at, costOf.text + (bytes > maxShortBytes ? bytes * digitsCost : 0));
}

/** A pair of a map. Maps repeat their keys, and what is known costs little. */
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
    `expected a Protobuf message whose values cost at most ${at.maxCostPerByte} ns for each of its bytes, found more: messages, maps and ` +
      "byte strings of next to no bytes, or parts that must be read over and over; raise limits.maxCostPerByte if this message may, or " +
      "see whether it was written with another schema",
  );
}
