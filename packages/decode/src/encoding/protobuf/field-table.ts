/** Finds and reads the fields of a message if they may come in any order. */
import { setProperty } from "../../set-property.ts";
import type { FieldInstruction, MessageInstruction } from "./read-instructions.ts";

export type Target = Record<string, unknown>;
/** Reads one field after its tag into the object, and returns the position after the field. */
export type Apply = (target: Target, b: Uint8Array, p: number, e: number, tag: number, d: number) => number;

/** How one field is read if it may come at any place in the message. */
export interface FieldReader {
  readonly field: FieldInstruction;
  /** -1 if the field is skipped. */
  readonly wire: number;
  /** The wire type of many values after one length (packed); -1 if the field cannot be packed. */
  readonly packedWire: number;
  readonly oneof: Oneof | null;
  /**
   * What a second value of a message field does: it replaces the first ("never"), the bytes of all parts are joined and read as one
   * ("joined"), or this function reads it into the object that is there.
   */
  readonly merge: "never" | "joined" | Apply;
  readonly cost: number;
  readonly apply: Apply;
}

/** The fields of one oneof. A message has at most one of them. */
export type Oneof = readonly FieldInstruction[];

export function oneofsOf({ fields }: MessageInstruction): ReadonlyMap<number, Oneof> {
  const oneofs = new Map<number, FieldInstruction[]>();
  for (const field of fields) {
    if (field.oneof >= 0 && field.use !== "skip") {
      const members = oneofs.get(field.oneof) ?? [];
      members.push(field);
      oneofs.set(field.oneof, members);
    }
  }
  return oneofs;
}

/** Fields with higher numbers are looked up in a map. */
const maxInTable = 2_048;

export class FieldTable {
  readonly #table: (FieldReader | undefined)[];
  readonly #others = new Map<number, FieldReader>();

  constructor(readers: readonly FieldReader[]) {
    const max = readers.reduce((found, { field: { number } }) => (number < maxInTable ? Math.max(found, number) : found), 0);
    this.#table = new Array<FieldReader | undefined>(max + 1).fill(undefined);
    for (const reader of readers) {
      const { number } = reader.field;
      if (number < maxInTable) {
        this.#table[number] = reader;
      } else {
        this.#others.set(number, reader);
      }
    }
  }

  find(number: number): FieldReader | undefined {
    return number < this.#table.length ? this.#table[number] : this.#others.get(number);
  }
}

/**
 * Sets the other fields of a oneof to null when one of them comes. If this loop has not seen a field of the oneof, generated code may have
 * set any of them, so all are set to null.
 */
export function choose(target: Target, field: FieldInstruction, oneof: Oneof, chosen: Map<Oneof, FieldInstruction>): void {
  const before = chosen.get(oneof);
  if (before === field) {
    return;
  }
  for (const other of before === undefined ? oneof : [before]) {
    if (other !== field) {
      setProperty(target, other.name, null);
    }
  }
  chosen.set(oneof, field);
}
