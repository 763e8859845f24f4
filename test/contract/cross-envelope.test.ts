import { type CdcEvent, createDecoder } from "@cdckit/decode";
import { describe, expect, test } from "vitest";
import { cases, type EnvelopeCase, type Exemption, inserted, type Messages, writtenRecord, type Row, updated } from "./cross-envelope.ts";

const operations = ["create", "update", "delete"] as const satisfies readonly (keyof Messages)[];

const images: Readonly<Record<keyof Messages, readonly [before: Row | null, after: Row | null]>> = {
  create: [null, inserted],
  update: [inserted, updated],
  delete: [updated, null],
};

describe.each(cases)("one row's life in $envelope", (one) => {
  test.each(operations)("%s is the same event as in every other envelope", async (op) => {
    const [event] = await eventsOf(one, op);
    expect(event).toMatchObject({ kind: "change", envelope: one.envelope });
    const { table, key, before, after } = event as CdcEvent & { kind: "change" };
    expect({ op: (event as { op?: unknown }).op, table: table.name, key, before, after }).toEqual(wanted(one.exempt ?? [], op));
  });
});

async function eventsOf({ before = [], messages, options }: EnvelopeCase, op: keyof Messages): Promise<readonly CdcEvent[]> {
  const decoder = createDecoder(options);
  for (const [i, written] of before.entries()) {
    await decoder.decode(writtenRecord(written, BigInt(i)));
  }
  return decoder.decode(writtenRecord(messages[op], BigInt(before.length)));
}

function wanted(exempt: readonly Exemption[], op: keyof Messages): object {
  const columns = Object.assign({}, ...exempt.map((one) => one.columns ?? {})) as Partial<Row>;
  const [before, after] = images[op].map((row) => (row === null ? null : { ...row, ...columns }));
  return Object.assign({ op, table: "orders", key: { id: 7 }, before, after }, ...exempt.map(({ fields }) => fields?.[op] ?? {})) as object;
}
