import { describe, expect, test } from "vitest";
import { isDecodeError } from "../../errors.ts";
import { resolveLimits } from "../../options.ts";
import type { MessageSelector, SchemaReference } from "../../schema-source.ts";
import { protobuf } from "./encoding.ts";
import { field, joined, outcomeOf, parseProto, proto3, twins, valueOf } from "./twins.contract.ts";

function nameOf(schema: string, message: MessageSelector | null, references: readonly SchemaReference[] = []): unknown {
  const type = parseProto(schema, references).typeOf(message);
  return type?.kind === "record" ? type.name : type;
}

function path(...indexes: number[]): MessageSelector {
  return { kind: "path", path: indexes };
}

/** The code and the message of a schema's error. */
function refusal(schema: string, references: readonly SchemaReference[] = [], maxSchemaChars = 4_194_304): string {
  try {
    const parsed = protobuf.parse({ id: 1, schemaType: "PROTOBUF", schema, references }, resolveLimits({ maxSchemaChars }));
    parsed.typeOf(null);
  } catch (error) {
    if (isDecodeError(error)) {
      return `${error.code}: ${error.detail}`;
    }
    throw error;
  }
  return "none";
}

describe("which message", () => {
  const nested = `syntax = "proto3"; package p.q;
    message B { message A { message D {} } map<string, A> some_map = 1; enum X { Y = 0; } message C {} }
    enum E { Z = 0; }
    message A {}`;

  test("null selects the first message", () => {
    expect(nameOf(nested, null)).toBe("p.q.B");
    expect(nameOf('syntax = "proto3";', null)).toBeNull();
  });

  test("a path counts messages only, not enums and map entries", () => {
    expect(nameOf(nested, path(1))).toBe("p.q.A");
    expect(nameOf(nested, path(0, 0, 0))).toBe("p.q.B.A.D");
    expect(nameOf(nested, path(0, 1))).toBe("p.q.B.C");
    expect(nameOf(nested, path(0, 2))).toBeNull();
    expect(nameOf(nested, path(2))).toBeNull();
    expect(nameOf(nested, path())).toBeNull();
  });

  test("a path may count map entries at the place of their field", () => {
    expect(nameOf(nested, { kind: "path", path: [0, 2], mapEntries: true })).toBe("p.q.B.C");
  });

  test("a full name selects a message, also in a reference", () => {
    const references = [{ name: "r.proto", schema: 'syntax = "proto3"; package r; message R {}' }];
    expect(nameOf(nested, { kind: "name", name: "p.q.B.C" })).toBe("p.q.B.C");
    expect(nameOf(nested, { kind: "name", name: "r.R" }, references)).toBe("r.R");
    expect(nameOf(nested, { kind: "name", name: "B.C" })).toBe("p.q.B.C");
    expect(nameOf(nested, { kind: "name", name: "p.q.E" })).toBeNull();
    expect(nameOf(nested, { kind: "name", name: "__proto__" })).toBeNull();
  });

  test("the bare name of a nested message selects it if no other has that name: Apicurio's serializer writes no other", () => {
    expect(nameOf(nested, { kind: "name", name: "C" })).toBe("p.q.B.C");
    expect(nameOf(nested, { kind: "name", name: "A" })).toBe("p.q.A"); // not p.q.B.A
    const twice = 'syntax = "proto3"; message A { message X {} } message B { message X {} }';
    expect(nameOf(twice, { kind: "name", name: "X" })).toBeNull();
  });

  test("an index counts all names in alphabetical order, as Glue does", () => {
    const glue = `syntax = "proto3"; message B { message C {} message A { message D {} } }`;
    const names = [0, 1, 2, 3, 4].map((index) => nameOf(glue, { kind: "sorted", index }));
    expect(names).toEqual(["B", "B.A", "B.A.D", "B.C", null]);
    expect(nameOf(nested, { kind: "sorted", index: 4 })).toBe("p.q.B.C");
    expect(nameOf(nested, { kind: "sorted", index: 5 })).toBe("p.q.B.SomeMapEntry");
  });

  test.each([
    ["tags_", "TagsEntry"],
    ["_tags", "TagsEntry"],
    ["a__b", "ABEntry"],
    ["Some_Map", "SomeMapEntry"],
    ["x_1", "X1Entry"],
    ["camelCase", "CamelCaseEntry"],
  ])("the pairs of the map %s are the message that protoc names so, which counts among the others", (field, entry) => {
    const schema = `syntax = "proto3"; message M { map<string, string> ${field} = 1; }`;
    expect(nameOf(schema, { kind: "sorted", index: 1 })).toBe(`M.${entry}`);
  });
});

describe("names", () => {
  test("a name is looked up in its own scope first, then in each scope around it", () => {
    const schema = `syntax = "proto3"; package a.b; message T { int32 outer = 1; } message M { T x = 1; .a.b.T y = 2; a.b.T z = 3; b.T w = 4; message T { int32 inner = 1; } }`;
    expect(valueOf(twins(schema, { message: path(1) }), joined(...[1, 2, 3, 4].map((number) => field(number, field(1, 5)))))).toEqual({
      x: { inner: 5 },
      y: { outer: 5 },
      z: { outer: 5 },
      w: { outer: 5 },
    });
  });

  test("blanks, line ends and comments may stand around the dots of a name", () => {
    const schema = `syntax = "proto3"; package a /* of */ . b; message T { message U { int32 c = 1; } message V { U u = 1; } }
      message M {
        T
          .U // a name that an editor wrapped
          x = 1;
        . a . b.
          T.U y = 2;
        map<string, T . U> z = 3;
      }
      extend . google.
        protobuf . FieldOptions { string note = 50000; }`;
    const pair = joined(field(1, "k"), field(2, field(1, 7)));
    const bytes = joined(field(1, field(1, 5)), field(2, field(1, 6)), field(3, pair));
    expect(nameOf(schema, path(1))).toBe("a.b.M");
    expect(valueOf(twins(schema, { message: path(1) }), bytes)).toEqual({ x: { c: 5 }, y: { c: 6 }, z: { k: { c: 7 } } });
  });

  test("references define the imports of a schema, and may import each other in circles", () => {
    const schema = 'syntax = "proto3"; import "a.proto"; message M { p.A a = 1; }';
    const references = [
      { name: "a.proto", schema: 'syntax = "proto3"; package p; import "b.proto"; message A { B b = 1; }' },
      { name: "b.proto", schema: 'syntax = "proto3"; package p; import "a.proto"; message B { A a = 1; E e = 2; } enum E { X = 0; }' },
    ];
    expect(valueOf(twins(schema, { references }), field(1, field(1, field(2, 0))))).toEqual({ a: { b: { a: null, e: "X" } } });
  });

  test("Google's files mean the same if the registry brings them", () => {
    const references = [
      {
        name: "google/protobuf/timestamp.proto",
        schema: 'syntax = "proto3"; package google.protobuf; message Timestamp { int64 seconds = 1; int32 nanos = 2; }',
      },
    ];
    const schema = proto3("google.protobuf.Timestamp a = 1;");
    expect(valueOf(twins(schema, { references }), field(1, field(1, 1)))).toEqual({ a: "1970-01-01T00:00:01Z" });
  });

  test("names from a text are only data", () => {
    const schema = proto3(
      "int32 __proto__ = 1; int32 constructor = 2; int32 toString = 3; prototype hasOwnProperty = 4; map<string, int32> valueOf = 5;",
      "message prototype { int32 __proto__ = 1; }",
    );
    const bytes = joined(field(1, 1), field(2, 2), field(3, 3), field(4, field(1, 4)));
    for (const order of [bytes, joined(field(4, field(1, 4)), field(3, 3), field(2, 2), field(1, 1))]) {
      const value = valueOf(twins(schema), order) as Record<string, unknown>;
      expect(Object.keys(value)).toEqual(["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"]);
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(JSON.stringify(value)).toBe('{"__proto__":1,"constructor":2,"toString":3,"hasOwnProperty":{"__proto__":4},"valueOf":{}}');
    }
  });

  test("names from a descriptor may look like code, and are only data", () => {
    const name = '"];globalThis.hacked=1;//\u2028`${1}';
    const fieldProto = joined(field(1, name), field(3, 1), field(4, 1), field(5, 5));
    const text = field(7, '"+(globalThis.hacked=1)+"');
    const textProto = joined(field(1, "t"), field(3, 2), field(4, 1), field(5, 9), text);
    const file = joined(field(1, "f.proto"), field(4, joined(field(1, name), field(2, fieldProto), field(2, textProto))));
    expect(valueOf(twins(file.toString("base64")), field(1, 7))).toEqual({ [name]: 7, t: '"+(globalThis.hacked=1)+"' });
    expect("hacked" in globalThis).toBe(false);
  });
});

test("everything in a text that does not change how messages are read is skipped", () => {
  const schema = `// a comment
    syntax = 'proto3' ; /* another
    one */ package p;
    import public "x.proto"; import weak "y.proto";
    option java_package = "a" 'b'; option (my.option).sub.field = { a: 1, b { c: [ "}", -inf ] } d: <e: f>; [x.y/z] : 1 };
    extend google.protobuf.FieldOptions { string note = 50000; }
    service S { rpc Get (M) returns (stream M) { option (http) = { get: "/v1/{a}" }; } rpc Put (M) returns (M); }
    message M { reserved 2, 15, 9 to 11, 40 to max; reserved "foo", "bar"; option deprecated = true;;
      extensions 100 to 199 [declaration = { number: 1 }];
      string a = 0x1 [deprecated = true, (note) = "it's \\"quoted\\"", json_name = "b"]; int32 b = 010; }`;
  expect(valueOf(twins(schema), joined(field(1, "x"), field(8, 5)))).toEqual({ a: "x", b: 5 });
});

describe("descriptors in base64", () => {
  test("they mean the same as texts", () => {
    const map = joined(
      field(1, "MEntry"),
      field(2, joined(field(1, "key"), field(3, 1), field(4, 1), field(5, 9))),
      field(2, joined(field(1, "value"), field(3, 2), field(4, 1), field(5, 5))),
      field(7, field(7, 1)),
    );
    const message = joined(
      field(1, "M"),
      field(2, joined(field(1, "m"), field(3, 1), field(4, 3), field(5, 11), field(6, ".p.M.MEntry"))),
      field(2, joined(field(1, "opt"), field(3, 2), field(4, 1), field(5, 3), field(9, 0), field(17, 1))),
      field(
        2,
        joined(
          field(1, "meant"),
          field(3, 3),
          field(4, 1),
          field(5, 3),
          field(8, field(1088, field(2, joined(field(1, "connect.name"), field(2, "io.debezium.time.Timestamp"))))),
        ),
      ),
      field(3, map),
      field(8, field(1, "_opt")),
    );
    const file = joined(field(1, "f.proto"), field(2, "p"), field(4, message), field(12, "proto3"));
    const readers = twins(file.toString("base64"));
    expect(valueOf(readers, field(1, joined(field(1, "k"), field(2, 3))))).toEqual({
      m: { k: 3 },
      opt: null,
      meant: "1970-01-01T00:00:00",
    });
    expect(parseProto(file.toString("base64")).typeOf(path(0, 0))).toBeNull();
  });

  test("an option of the user's own may be a group", () => {
    // protoc 35.1 of: extend google.protobuf.FieldOptions { optional group Meta = 50001 { optional string owner = 1; } }
    // message Order { optional int64 id = 1 [(meta) = { owner: "sales" }]; }
    const descriptor =
      "CgxvcmRlcnMucHJvdG8aIGdvb2dsZS9wcm90b2J1Zi9kZXNjcmlwdG9yLnByb3RvIhwKBE1ldGESFAoFb3duZXIYASABKAlSBW93bmVyIiYKBU9yZGVyEh0KAmlkGAEgASgDQg2LtRgKBXNhbGVzjLUYUgJpZDo6CgRtZXRhEh0uZ29vZ2xlLnByb3RvYnVmLkZpZWxkT3B0aW9ucxjRhgMgASgKMgUuTWV0YVIEbWV0YQ==";
    expect(valueOf(twins(descriptor, { message: { kind: "name", name: "Order" } }), field(1, 7))).toEqual({ id: 7 });
  });
});

describe("schemas that are refused", () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ["another language", '{"type":"record"}', /line 1: expected a message/],
    ["no text", "\u0000", /expected a message/],
    ["an unknown type", proto3("Other a = 1;"), /no message or enum is named "Other"/],
    ["two fields of a number", proto3("int32 a = 1; int32 b = 1;"), /two fields/],
    ["two fields of a name", proto3("int32 a = 1; int32 a = 2;"), /two fields/],
    ["two messages of a name", 'syntax = "proto3"; message A {} message A {}', /defines "A" twice/],
    ["the field number 0", proto3("int32 a = 0;"), /number that is not allowed/],
    ["a field number beyond the largest", proto3("int32 a = 536870912;"), /number that is not allowed/],
    ["a field number that is none", proto3("int32 a = 1.5;"), /number that is not allowed/],
    ["an unknown syntax", 'syntax = "proto4"; message M {}', /expected the syntax "proto2" or "proto3", found "proto4"/],
    ["a text that ends early", "message M { int32 a", /found the end/],
    ["a comment that does not end", "message M {} /*", /expected the end of a comment/],
    ["messages nested too deep", "message M {".repeat(1_000), /deeper than 64/],
    ["options in options without end", `option a = ${"{ a: ".repeat(1_000)}`, /deeper than 64/],
    ["a default of the wrong type", "message M { optional int32 a = 1 [default = x]; }", /expected an integer as a default, found "x"/],
    ["base64 of something else", Buffer.from("something").toString("base64"), /FileDescriptorProto/],
    ["fields without end", proto3(Array.from({ length: 100_001 }, (_, i) => `int32 f${i}=${i + 1};`).join("")), /100000 fields/],
    ["too many messages", Array.from({ length: 10_001 }, (_, i) => `message M${i} {}`).join("\n"), /more than 10000 messages/],
  ];
  for (const [name, schema, words] of cases) {
    test(name, () => {
      expect(refusal(schema)).toMatch(/^schema-invalid: /);
      expect(refusal(schema)).toMatch(words);
    });
  }

  test("a text and references that are together longer than the limit", () => {
    expect(refusal("message M {}", [{ name: "r.proto", schema: "message R {}" }], 20)).toMatch(/maxSchemaChars/);
  });
});

test("a chain of the maximum number of messages does not overflow the stack", () => {
  const count = 9_000;
  const messages = Array.from({ length: count }, (_, i) => `message M${i} { ${i + 1 < count ? `M${i + 1}` : "int32"} a = 1; }`).join("\n");
  const readers = twins(`syntax = "proto3"; ${messages}`);
  expect(valueOf(readers, field(1, Buffer.alloc(0)))).toEqual({ a: { a: null } });
  expect(outcomeOf(() => readers[0].read(field(1, "x"), 0, 3))).toHaveProperty("code");
});
