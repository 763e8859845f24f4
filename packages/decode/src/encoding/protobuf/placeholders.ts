import { setProperty } from "../../set-property.ts";
import type { Conversion } from "../../values/conversion.ts";
import { UNAVAILABLE, type UnavailableTests, unavailableTests } from "../../values/unavailable.ts";
import type { MessageField } from "./messages.ts";

/** The placeholder in place, told from most values by its length. */
export interface PlaceholderBytes {
  readonly lengths: readonly number[];
  readonly test: (bytes: Uint8Array, start: number, end: number) => boolean;
}

type Finish = (row: Record<string, unknown>) => void;

/** How Debezium's placeholder of an unchanged TOAST column is recognised in columns. */
export class Placeholders {
  readonly text: PlaceholderBytes;
  readonly bytes: PlaceholderBytes;
  readonly #tests: UnavailableTests;

  constructor(placeholder: string) {
    this.#tests = unavailableTests(placeholder);
    const { bytes } = this.#tests;
    const length = Buffer.byteLength(placeholder);
    const hstore = unavailableTests(JSON.stringify({ [placeholder]: placeholder })).bytes; // an hstore that is handled as JSON
    const hstoreLength = Buffer.byteLength(JSON.stringify({ [placeholder]: placeholder }));
    this.bytes = { lengths: [length], test: bytes };
    this.text = {
      lengths: [length, hstoreLength],
      test: (b, start, end) => bytes(b, start, end) || (placeholder !== "" && hstore(b, start, end)),
    };
  }

  /** What is done to a list or a map of a row when all of it is there, or null. */
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
      const items = row[name] as readonly unknown[]; // a repeated field's value is a list
      if (array(items)) {
        setProperty(row, name, UNAVAILABLE);
      } else if (convert !== null) {
        setProperty(row, name, convert(items));
      }
    };
  }
}
