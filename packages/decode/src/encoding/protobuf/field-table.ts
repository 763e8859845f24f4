/** How the fields of a message are found and read where they may come in any order. */
import { setProperty } from "../../set-property.ts";
import type { FieldInstruction, MessageInstruction } from "./read-instructions.ts";

export type Target = Record<string, unknown>;
/** Reads one field behind its tag into the object, and gives the position behind it. */
export type Apply = (target: Target, b: Uint8Array, p: number, e: number, tag: number, d: number) => number;

/** How one field is read where it may come at any time. */
export interface FieldReader {
  readonly field: FieldInstruction;
  /** -1 where the field is skipped. */
  readonly wire: number;
  /** The wire type of many values behind one length; -1 where there is none. */
  readonly packedWire: number;
  readonly oneof: Oneof | null;
  /** What is done with a further part of a message: nothing merges, the bytes of all parts do, or this reads it into what is there. */
  readonly merge: "never" | "joined" | Apply;
  readonly cost: number;
  readonly apply: Apply;
}

/** The fields of which a message has one. */
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

/** Fields of higher numbers are looked for in a map. */
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

/** A oneof's field takes the place of the one before it; of any other, where none was seen yet here. */
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
