import { recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { createDecoder } from "../../decoder.ts";

// ExtractField makes such a key of an Oracle NUMBER, which has its scale beside its unscaled integer.
const fields = '[{"type":"int32","optional":false,"field":"scale"},{"type":"bytes","optional":false,"field":"value"}]';
const schema = `{"type":"struct","fields":${fields},"optional":true,"name":"io.debezium.data.VariableScaleDecimal","version":1}`;

async function keysOf(key: string): Promise<readonly unknown[]> {
  const decoder = createDecoder();
  const found: unknown[] = [];
  for (let i = 0; i < 3; i++) {
    const [event] = await decoder.decode(recordOf(Buffer.from('{"a":1}'), { key: Buffer.from(key) }));
    found.push(event?.kind === "row" ? event.key : event);
  }
  return found;
}

describe("a key that is a decimal in a struct is the decimal, as in Avro", () => {
  test.each([
    ["as JsonConverter spells it", `{"schema":${schema},"payload":{"scale":1,"value":"BQ=="}}`],
    ["with other spaces", `{ "schema": ${schema}, "payload": { "value": "BQ==", "scale": 1 } }`],
  ])("%s", async (_, key) => {
    expect(await keysOf(key)).toEqual(["0.5", "0.5", "0.5"]);
  });
});
