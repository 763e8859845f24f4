import { RecordArrayBatch, recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { Counters } from "../observe/counters.ts";
import { InFlightBytes } from "./in-flight-bytes.ts";
import { InFlightRecord } from "./in-flight-record.ts";
import { OffsetLedger } from "./offset-ledger.ts";
import { TakenBatches } from "./taken-batches.ts";

function setUp() {
  const inFlightBytes = new InFlightBytes(1_000);
  const batches = new TakenBatches({
    ledger: new OffsetLedger(),
    counters: new Counters(),
    maxInFlight: 10,
    inFlightBytes,
    released: () => {},
  });
  return { inFlightBytes, batches };
}

function batchOf(value: string): RecordArrayBatch {
  const assignment = { topic: "t", partition: 0, epoch: 1 };
  return new RecordArrayBatch({ assignment, records: [recordOf(Buffer.from(value), { topic: "t", partition: 0, offset: 0n })] });
}

/** The record of the next batch, which is read to its end. */
function readNext(batches: TakenBatches): InFlightRecord {
  const taken = batches.head;
  if (taken === undefined) {
    throw new Error("expected a batch that is not read yet");
  }
  const record = new InFlightRecord(taken, 0, 1n, 1, batches);
  batches.shiftHead();
  return record;
}

describe("the batches of a partition", () => {
  test("count against the limit of bytes until their last record is handled", () => {
    const { inFlightBytes, batches } = setUp();
    const [small, large] = [batchOf("a"), batchOf("b".repeat(100))];
    batches.add(small);
    batches.add(large);
    expect(inFlightBytes.total).toBe(small.byteLength + large.byteLength);
    readNext(batches).done();
    expect(inFlightBytes.total).toBe(large.byteLength);
    readNext(batches).done();
    expect(inFlightBytes.total).toBe(0);
  });

  test("that are dropped leave the count once, whatever is handled of them after that", () => {
    const { inFlightBytes, batches } = setUp();
    ["a", "b", "c"].forEach((value) => batches.add(batchOf(value)));
    const [handled, inHand] = [readNext(batches), readNext(batches)];
    handled.done();
    batches.drop();
    expect(inFlightBytes.total).toBe(0);
    inHand.done();
    batches.drop();
    expect(inFlightBytes.total).toBe(0);
  });
});
