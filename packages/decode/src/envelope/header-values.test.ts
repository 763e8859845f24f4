import { recordOf } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { createDecoder, type DecoderOptions } from "../decoder.ts";
import type { CdcEvent, ChangeEvent } from "../event.ts";

const source = `{"connector":"postgresql","name":"s","db":"d","schema":"public","table":"t"}`;

/** The delete that begins a change of the key to the text `newKey`, which its own key has, too. */
function moved(newKey: string, options: DecoderOptions = {}): ChangeEvent {
  const value = `{"before":null,"after":null,"source":${source},"op":"d"}`;
  const headers = [["__debezium.newkey", Buffer.from(newKey)]] as const;
  const record = recordOf(value, { topic: "s.public.t", key: Buffer.from(newKey), headers });
  const [event] = createDecoder(options).decode(record) as readonly CdcEvent[];
  return event as ChangeEvent;
}

test.each<[string, DecoderOptions]>([
  ['{"id":1,"part":9007199254740993}', {}],
  ['{"id":1}', { values: { int64: "bigint" } }],
  ['{"id":1,"part":9007199254740993}', { values: { int64: "string" } }],
  ['{"id":1.10,"part":1e400}', { values: { numbers: "exact" } }],
  [
    '{"day":19723,"at":1704067200000001}',
    { topics: { "s.public.t": { columns: { day: "io.debezium.time.Date", at: "io.debezium.time.MicroTimestamp" } } } },
  ],
])("the key in a header has the values that the same key has in a record: %s with %j", (key, options) => {
  const event = moved(key, options);
  expect(event.keyChange).toStrictEqual({ kind: "moved-to", key: event.key });
});

test("a number in a header that no double holds leaves the header as text", () => {
  const record = recordOf(`{"before":null,"after":null,"source":${source},"op":"d"}`, {
    topic: "s.public.t",
    headers: [["__debezium.newkey", Buffer.from('{"id":1e400}')]],
  });
  expect((createDecoder().decode(record) as readonly CdcEvent[])[0]).toMatchObject({
    keyChange: { kind: "moved-to", key: '{"id":1e400}' },
  });
});
