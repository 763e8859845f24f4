import type { Opening } from "../opening.ts";
import type { ReadPlan } from "../reader.ts";
import { ReadersBySelection } from "../row-selection.ts";
import type { Type } from "../type.ts";
import type { JsonReader } from "./reader.ts";

/** What the decoders of JSON text need of a reader. */
export type JsonTextReader = Pick<
  JsonReader,
  "encoding" | "checkCost" | "readPart" | "readFast" | "countMiss" | "convert" | "convertFinal"
>;

/** Makes the reader of texts of this type. If columns are selected, it reads those that are selected at each call. */
export function jsonTextReader(
  type: Type,
  { plan, selectable }: Opening<unknown>,
  compile: (plan: ReadPlan) => JsonReader,
): JsonTextReader {
  return selectable === null ? compile(plan) : new SelectingJsonReader(new ReadersBySelection(selectable, type, plan, compile));
}

/** The readers of one type, one for each selection. The methods are those of {@link JsonReader}. */
class SelectingJsonReader implements JsonTextReader {
  readonly encoding: JsonReader["encoding"];
  readonly #readers: ReadersBySelection<JsonReader>;

  constructor(readers: ReadersBySelection<JsonReader>) {
    this.encoding = readers.next().encoding;
    this.#readers = readers;
  }

  checkCost(bytes: Uint8Array, start: number, end: number): void {
    this.#readers.next().checkCost(bytes, start, end);
  }

  readPart(bytes: Uint8Array, start: number, end: number): unknown {
    return this.#readers.next().readPart(bytes, start, end);
  }

  readFast(bytes: Uint8Array, start: number, end: number): unknown {
    return this.#readers.next().readFast(bytes, start, end);
  }

  countMiss(): void {
    this.#readers.next().countMiss();
  }

  convert(parsed: unknown): unknown {
    return this.#readers.next().convert(parsed);
  }

  convertFinal(parsed: unknown): unknown {
    return this.#readers.next().convertFinal(parsed);
  }
}
