import { setProperty } from "../../set-property.ts";
import type { Conversion } from "../../values/conversion.ts";
import { type PlaceholderBytes, UNAVAILABLE, type UnavailableTests, unavailableTests } from "../../values/unavailable.ts";
import type { MessageField } from "./messages.ts";

export type { PlaceholderBytes } from "../../values/unavailable.ts";

type Finish = (row: Record<string, unknown>) => void;

/** Recognises Debezium's placeholder of an unchanged TOAST column. */
export class Placeholders {
  readonly text: PlaceholderBytes;
  readonly bytes: PlaceholderBytes;
  readonly #tests: UnavailableTests;

  constructor(placeholder: string) {
    this.#tests = unavailableTests(placeholder);
    this.bytes = this.#tests.rawBytes;
    this.text = this.#tests.textBytes;
  }

  /** What is done with a list or a map of a row after all of it was read, or null. */
  finish({ name, cardinality, type }: MessageField, convert: NonNullable<Conversion["array"]> | null): Finish | null {
    if (cardinality === "map") {
      const { map } = this.#tests;
      return (row) => {
        if (map(row[name])) {
          setProperty(row, name, UNAVAILABLE);
        }
      };
    }
    if (cardinality === "single" || (type.kind === "message" && convert === null)) {
      return null;
    }
    const { array } = this.#tests;
    return (row) => {
      const items = row[name] as readonly unknown[]; // the value of a repeated field is a list
      if (array(items)) {
        setProperty(row, name, UNAVAILABLE);
      } else if (convert !== null) {
        setProperty(row, name, convert(items));
      }
    };
  }
}
