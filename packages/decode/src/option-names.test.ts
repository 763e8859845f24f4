import { describe, expect, test } from "vitest";
import { createDecoder, type DecoderOptions, type LearnOptions, type SideHints, type TopicHints } from "./decoder.ts";
import type { Formats } from "./detect/formats.ts";
import { optionNames } from "./option-names.ts";
import type { ValueOptions } from "./options.ts";

type Names<Options> = Readonly<Record<keyof Options, true>>;

// A new option does not compile before its name is known.
optionNames satisfies {
  readonly decoder: Names<DecoderOptions>;
  readonly values: Names<ValueOptions>;
  readonly learn: Names<LearnOptions>;
  readonly formats: Names<Formats>;
  readonly topic: Names<TopicHints>;
  readonly table: Names<NonNullable<TopicHints["table"]>>;
  readonly column: Names<Exclude<NonNullable<TopicHints["columns"]>[string], string>>;
  readonly side: Names<SideHints>;
  readonly schema: Names<NonNullable<SideHints["schema"]>>;
};

describe("a name that is no option of createDecoder", () => {
  test.each<[object, RegExp]>([
    [{ schemas: { url: "http://registry" } }, /^schemas must be a schema source .*createRegistry\(\{ url \}\), got an object without them/],
    [{ schemas: "http://registry" }, /^schemas must be a schema source .*, got string$/],
    [{ schema: {} }, /^schema is no option; the options are schemas, values, topics/],
    [{ values: { int46: "bigint" } }, /^values\.int46 is no option; the options are int64, /],
    [{ learn: { key: true } }, /^learn\.key is no option; the options are keys, schemaChanges/],
    [{ formats: { encodings: [] } }, /^formats\.encodings is no option/],
    [{ limits: { maxdepth: 3 } }, /^limits\.maxdepth is no limit/],
    [{ topics: { t: { encoding: "json" } } }, /^topics\["t"\]\.encoding is no option; the options are table, /],
    [{ topics: { t: { table: { tabel: "x", name: "t" } } } }, /^topics\["t"\]\.table\.tabel is no option/],
    [{ topics: { t: { columns: { at: { name: "uuid", params: {} } } } } }, /^topics\["t"\]\.columns\["at"\]\.params is no option/],
    [{ topics: { t: { key: { encodng: "json" } } } }, /^topics\["t"\]\.key\.encodng is no option; the options are encoding, /],
    [{ topics: { t: { value: { schema: { type: "AVRO" } } } } }, /^topics\["t"\]\.value\.schema\.type is no option/],
    [{ topics: { t: "json" } }, /^topics\["t"\] must be an object of options, got string/],
  ])("is refused with its place and the names that there are: %j", (options, message) => {
    expect(() => createDecoder(options as DecoderOptions)).toThrow(message);
  });

  test("is accepted if it has no value", () => {
    expect(() => createDecoder({ schema: undefined } as DecoderOptions)).not.toThrow();
  });
});
