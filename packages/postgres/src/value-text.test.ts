import { expect, test } from "vitest";
import { valueText } from "./value-text.ts";

/** Holds its value as the Temporal types do: not as a member. */
class Moment {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toJSON(): string {
    return this.#text;
  }
}

test.each<[string, unknown, string, string]>([
  ["a time", new Moment("10:00:00"), "text", "10:00:00"],
  ["a date", new Moment("2024-02-29"), "date", "2024-02-29"],
  ["a date before our era", new Moment("-000043-03-15"), "date", "0044-03-15 BC"],
  ["a Date before our era", new Date("-000043-03-15T00:00:00Z"), "timestamp without time zone", "0044-03-15T00:00:00.000Z BC"],
  ["a list of times", [new Moment("10:00:00"), null], "time[]", '{"10:00:00",NULL}'],
  ["a time in a document", { at: new Moment("10:00:00") }, "jsonb", '{"at":"10:00:00"}'],
  ["a Date in a document", { at: [new Date(0)] }, "json", '{"at":["1970-01-01T00:00:00.000Z"]}'],
  ["a Date alone", new Date(0), "jsonb", '"1970-01-01T00:00:00.000Z"'],
  ["a column of the name toJSON", { toJSON: 1 }, "jsonb", '{"toJSON":1}'],
  ["a boolean in a document's place", true, "jsonb", "true"],
  ["a boolean", false, "boolean", "f"],
  ["booleans in the places of documents", [true, false], "jsonb[]", '{"true","false"}'],
  ["an integer in a document's place", 9_007_199_254_740_993n, "jsonb", "9007199254740993"],
  ["bytes in a document's place", Buffer.from([0, 255]), "jsonb", '"AP8="'],
  ["the text of a document", '{"a": 1}', "jsonb", '{"a": 1}'],
  ["a document in a text", { a: 1n }, "text", '{"a":1}'],
  ["a zero below zero", -0, "double precision", "-0"],
  ["zeros below zero in a list", [-0, 0], "real[]", '{"-0","0"}'],
  ["a point with a zero below zero", { x: -0, y: 1 }, "point", "(-0,1)"],
  ["a zero below zero in a document", { a: -0 }, "json", '{"a":-0}'],
  ["a day of the year 0", "0000-12-31", "date", "0001-12-31 BC"],
  ["the last day that PostgreSQL has", "+5874897-12-31", "date", "5874897-12-31"],
  ["a boolean in a column of one bit", true, '"bit"', "1"],
  ["a boolean in a column of bits", false, "bit varying", "0"],
  ["microseconds in an interval", -1, "interval", "-1 microseconds"],
  ["more microseconds than a double counts", 9_007_199_254_740_993n, "interval", "9007199254740993 microseconds"],
  ["the bytes of a composite's text", Buffer.from('("a b",1)'), "app.address", '("a b",1)'],
  ["bytes that are no text", Buffer.from([255]), "line", "\\xff"],
  ["bytes in a text", Buffer.from("a"), "character varying", "\\x61"],
  ["the JSON text of an hstore", '{"a":"1","b \\"c":null,"\\\\":""}', "hstore", '"a"=>"1","b \\"c"=>NULL,"\\\\"=>""'],
  ["an hstore as a map", new Map([["a", "1"]]), "ext.hstore", '"a"=>"1"'],
  ["an hstore as an object", { a: null }, "hstore", '"a"=>NULL'],
  ["a list of hstores", ['{"a":"1"}'], "hstore[]", '{"\\"a\\"=>\\"1\\""}'],
  ["an hstore in its own form", '"a"=>"1"', "hstore", '"a"=>"1"'],
])("%s is written as it says itself", (_, value, type, text) => {
  expect(valueText(value, type)).toBe(text);
});

test.each<[unknown, string, string]>([
  ["123", "jsonb", '"123"'],
  ['say "hello"', "json", '"say \\"hello\\""'],
  [["123", null], "jsonb[]", '{"\\"123\\"",NULL}'],
  [true, "jsonb", "true"],
  [{ a: "b" }, "jsonb", '{"a":"b"}'],
  ["123", "text", "123"],
])("a plain text is a text in JSON, too: %o in %s", (value, type, text) => {
  expect(valueText(value, type, true)).toBe(text);
});

test.each([
  ["alone", new (class Own {})()],
  ["in a document", { at: new (class Own {})() }],
])("an object of a class that does not say how it is written is refused, %s", (_, value) => {
  expect(() => valueText(value, "jsonb")).toThrow("[schema-mismatch]");
});
