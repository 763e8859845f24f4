import { type ChangeEvent, comparePosition, createDecoder, positionOf } from "@cdckit/decode";
import { describe, expect, test } from "vitest";
import { optionsOf, vectorRecord, type Vector, vectorFiles } from "../vectors/vector.ts";

/** Changes that each connector of Debezium has written, one behind the other in its log; the last is a snapshot's row. */
const written = vectorFiles("decode").find(({ file }) => file === "debezium-sources.ndjson")?.vectors ?? [];
const connectors = [...new Set(written.map(({ name }) => name.split(":")[0] ?? ""))];

describe("positions of real source blocks", () => {
  test.each(connectors)("%s: each change stands behind the one before it", (connector) => {
    const changes = written.filter(({ name }) => name.startsWith(`${connector}:`)).map(changeOf);
    const positions = changes.map(positionOf);
    expect(positions.pop()).toBeNull();
    expect(positions.length).toBeGreaterThan(3);
    for (const [i, position] of positions.slice(1).entries()) {
      const before = positions[i] ?? expect.fail("expected a position");
      expect(comparePosition(before, position ?? expect.fail("expected a position"))).toBeLessThan(0);
    }
  });
});

function changeOf(vector: Vector): ChangeEvent {
  const events = createDecoder(optionsOf(vector)).decode(vectorRecord(vector));
  if (events instanceof Promise) {
    return expect.fail("every schema is at hand");
  }
  const [event] = events;
  return event?.kind === "change" ? event : expect.fail("expected a change");
}
