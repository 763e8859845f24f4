/**
 * What values cost, counted while they are read. Two bytes can stand for an empty message, a map or a timestamp, which take a hundred times
 * what the bytes took; no message that says something consists of them. Numbers and short texts are not counted: their bytes pay for them.
 *
 * A weight is about a nanosecond of a reader, its garbage counted in; a message may spend `limits.maxWeightPerByte` for each of its bytes.
 */
import { DecodeError } from "../../errors.ts";
import type { Cursor } from "./cursor.ts";

/** What things cost. A place of a wide object costs more: such objects do not fit where the runtime makes small ones. */
export const weightOf = {
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
const mostNarrow = 48;
/** Setting a field of an object of a thousand. */
const wideFieldWeight = 420;
const wideFields = 512;

/** What an object costs, whatever is in it. */
export function objectWeight(slots: number): number {
  return weightOf.object + Math.min(slots, mostNarrow) * weightOf.slot + Math.max(0, slots - mostNarrow) * weightOf.wideSlot;
}

/** What each field costs that is set in an object. */
export function setWeight(slots: number): number {
  return Math.round(wideFieldWeight * Math.max(0, Math.min(1, (slots - mostNarrow) / wideFields)));
}

/** A key of a map, as text, that its message did not have before: the runtime remembers each. */
const keyWeight = 1_300;
/** Keys that one message's maps repeat. */
const mostKeys = 1_024;
/** A byte that is looked at a second time. */
const againWeight = 16;
/** A byte of a long decimal, two or three digits. */
const digitsWeight = 105;
/** A decimal of fewer bytes costs what any does. */
const mostShortBytes = 32;
/** A message of fewer bytes may cost what one of these may. */
export const leastWeighedBytes = 1_048_576;

/** What a message of this length may weigh. */
export function weightAllowance(at: Cursor, length: number): number {
  return at.maxWeightPerByte * Math.max(length, at.leastWeighedBytes);
}

/** Takes what something weighs from the message's allowance. */
export function weigh(at: Cursor, weight: number): void {
  at.weight += weight;
  if (at.weight > at.maxWeight) {
    throw tooHeavy(at);
  }
}

/** Bytes that are looked at once more: groups in groups, and messages that come in parts. */
export function weighAgain(at: Cursor, bytes: number): void {
  weigh(at, bytes * againWeight);
}

/** A value made of bytes by some computation, which takes longer for each byte the more there are. */
export function weighConverted(at: Cursor, bytes: number): void {
  weigh(at, weightOf.text + (bytes > mostShortBytes ? bytes * digitsWeight : 0));
}

/** A pair of a map. Maps repeat their keys, and what is known costs little. */
export function weighPair(at: Cursor, key: unknown): void {
  weigh(at, weightOf.pair);
  if (typeof key !== "string") {
    return;
  }
  at.keys ??= new Set();
  if (at.keys.has(key)) {
    return;
  }
  weigh(at, keyWeight);
  if (at.keys.size < mostKeys) {
    at.keys.add(key);
  }
}

export function tooHeavy(at: Cursor): DecodeError {
  return new DecodeError(
    "limit-exceeded",
    `expected a Protobuf message whose values cost at most ${at.maxWeightPerByte} ns for each of its bytes, found more: messages, maps and ` +
      "byte strings of next to no bytes, or parts that must be read over and over; raise limits.maxWeightPerByte if this message may, or " +
      "see whether it was written with another schema",
  );
}
