import { recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { createDecoder } from "../decoder.ts";
import type { FastPathMatch } from "../encoding/fast-path.ts";
import type { Framing } from "../framing/framing.ts";
import { formatsWith } from "./formats.ts";
import { FramingOrder } from "./framing-order.ts";

const own: Framing = { name: "own", headerNames: [], recognise: () => null, open: () => ({ schemaId: null, payloads: [] }) };
const reader = { read: () => null };

function match(head: string): FastPathMatch {
  return { prefix: Buffer.from("{"), head: Buffer.from(head), reader, columns: null };
}

function namesFor(order: FramingOrder, bytes: Buffer): readonly string[] {
  return order.of(bytes, 0, bytes.length).map(({ name }) => name);
}

describe("the order of framings", () => {
  test("shows a message to the framings that begin with its first byte, the one that is asked first before them", () => {
    const order = new FramingOrder(formatsWith());
    expect(namesFor(order, Buffer.of(0, 0, 0, 0, 1))).toEqual(["confluent", "ticdc", "apicurio", "azure"]);
    expect(namesFor(order, Buffer.of(3))).toEqual(["glue"]);
    expect(namesFor(order, Buffer.from("{"))).toEqual(["apicurio"]);
    expect(namesFor(order, Buffer.from("["))).toEqual([]);
    expect(namesFor(order, Buffer.alloc(0))).toEqual([]);
  });

  test("shows every message to a framing that does not say what it begins with, and no other to one that does", () => {
    const [unsaid, said] = [{}, { prefixes: [Buffer.from("!!")] }].map(
      (more) => new FramingOrder(formatsWith({ framings: [{ ...own, ...more }] })),
    );
    expect(["[", "!", ""].map((text) => namesFor(unsaid as FramingOrder, Buffer.from(text)))).toEqual([["own"], ["own"], ["own"]]);
    expect(["[", "!", ""].map((text) => namesFor(said as FramingOrder, Buffer.from(text)))).toEqual([[], ["own"], []]);
  });

  test("asks a framing that says so before the others, wherever it stands in the list", () => {
    const { framings, ...formats } = formatsWith();
    const later = { ...own, prefixes: [Buffer.of(3)] };
    const [builtIn, last] = [framings.slice(0, -1), framings.slice(-1)];
    const orderOf = (framing: Framing): FramingOrder => new FramingOrder({ ...formats, framings: [...builtIn, framing, ...last] });
    expect(namesFor(orderOf(later), Buffer.of(3))).toEqual(["glue", "own"]);
    expect(namesFor(orderOf({ ...later, isAskedFirst: true }), Buffer.of(3))).toEqual(["own", "glue"]);
  });

  test("leaves messages that no framing may claim to the fast path", () => {
    const order = new FramingOrder(formatsWith());
    expect(order.leaves(match('{"id":'), null)).toBe(true);
    expect(order.leaves(match('{"schemaId":'), null)).toBe(false);
    expect(order.leaves(match("{"), null)).toBe(false);
    expect(order.leaves(match('{"database":'), null)).toBe(true); // packed texts are recognised by what follows the first text
    const withOwn = new FramingOrder(formatsWith({ framings: [own] }));
    expect(withOwn.leaves(match('{"id":'), null)).toBe(false);
  });
});

test("a framing that claims some texts by their first bytes leaves the others to the fast path, and claims its own after it", () => {
  const framing: Framing = {
    ...own,
    prefixes: [Buffer.from('{"frame":')],
    recognise: ({ bytes, start, end }) => (bytes.toString("latin1", start, end).startsWith('{"frame":') ? "the name frame first" : null),
    open: ({ bytes, start, end }) => ({ schemaId: null, payloads: [{ bytes, start, end, count: 1 }] }),
  };
  const decoder = createDecoder({ formats: { framings: [framing] } });
  const framingOf = (text: string): unknown => (decoder.decode(recordOf(text)) as readonly { framing: string }[])[0]?.framing;
  const plain = Array.from({ length: 100 }, (_, i) => framingOf(`{"id":${i}}`));
  expect(new Set(plain)).toEqual(new Set(["none"]));
  expect(Array.from({ length: 100 }, (_, i) => framingOf(`{"frame":${i}}`))).toEqual(Array.from({ length: 100 }, () => "own"));
  expect(framingOf('{"id":1}')).toBe("none");
});
