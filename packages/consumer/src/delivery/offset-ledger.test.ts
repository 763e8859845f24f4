import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OffsetLedger, type OffsetSpan } from "./offset-ledger.ts";

describe("the offset ledger", () => {
  test("nothing is safe to commit while nothing is handled", () => {
    const ledger = new OffsetLedger();
    ledger.take();
    expect(ledger.watermark).toBeNull();
    expect(ledger.uncommitted).toBeNull();
  });

  test("a record that is settled early waits for the ones before it", () => {
    const ledger = new OffsetLedger();
    const [first, second, third] = [ledger.take(), ledger.take(), ledger.take()];
    ledger.settle(third, 8n);
    ledger.settle(second, 7n);
    expect(ledger.watermark).toBeNull();
    ledger.settle(first, 6n);
    expect(ledger.watermark).toBe(8n);
  });

  test("part of a batch is safe to commit while the rest is in flight, but not before the batches before it", () => {
    const ledger = new OffsetLedger();
    const [first, second] = [ledger.take(), ledger.take()];
    ledger.advance(second, 15n);
    expect(ledger.watermark).toBeNull();
    ledger.advance(first, 4n);
    expect(ledger.watermark).toBe(4n);
    ledger.settle(first, 10n);
    expect(ledger.watermark).toBe(15n);
  });

  test("an offset that is committed is not offered again", () => {
    const ledger = new OffsetLedger();
    ledger.settle(ledger.take(), 3n);
    expect(ledger.uncommitted).toBe(3n);
    ledger.markCommitted(3n);
    expect(ledger.uncommitted).toBeNull();
  });

  test("if the broker is ahead of the watermark, nothing below the broker's offset is offered", () => {
    const ledger = new OffsetLedger();
    const span = ledger.take();
    ledger.advance(span, 3n);
    // A transaction commits its offsets before its records are settled.
    ledger.markCommitted(7n);
    expect(ledger.uncommitted).toBeNull();
    ledger.settle(span, 7n);
    expect(ledger.uncommitted).toBeNull();
    ledger.settle(ledger.take(), 9n);
    expect(ledger.uncommitted).toBe(9n);
  });

  test("in every order of settling and committing, no offset is offered that is not above the broker's", () => {
    fc.assert(
      fc.property(scheduleArbitrary, fc.array(fc.tuple(fc.boolean(), fc.nat(8)), { maxLength: 60 }), ({ gaps, order }, commits) => {
        const ledger = new OffsetLedger();
        const offsets = offsetsOf(gaps);
        const spans = offsets.map(() => ledger.take());
        let atBroker = -1n;
        order.forEach((index, at) => {
          const [isPlain, ahead] = commits[at] ?? [true, 0];
          const offset = offsets[index] as bigint;
          if (!isPlain) {
            // The group's commit of a transaction, some way into what is in flight.
            const reached = (offsets[Math.min(offsets.length - 1, at + ahead)] as bigint) + 1n;
            atBroker = reached > atBroker ? reached : atBroker;
            ledger.markCommitted(reached);
          }
          ledger.settle(spans[index] as OffsetSpan, offset + 1n);
          const offered = ledger.uncommitted;
          expect(offered === null || offered > atBroker).toBe(true);
          if (isPlain && offered !== null) {
            atBroker = offered;
            ledger.markCommitted(offered);
          }
        });
        // All of it is settled, so the end is offered, or the broker has it.
        const end = (offsets.at(-1) as bigint) + 1n;
        expect(ledger.uncommitted ?? atBroker).toBe(end > atBroker ? end : atBroker);
      }),
    );
  });

  test("the watermark never passes a record in flight, never goes back, and reaches the end when all is settled", () => {
    fc.assert(
      fc.property(scheduleArbitrary, ({ gaps, order }) => {
        const ledger = new OffsetLedger();
        const offsets = offsetsOf(gaps);
        const open = new Map<bigint, OffsetSpan>(offsets.map((offset) => [offset, ledger.take()]));
        let last = -1n;
        for (const index of order) {
          const offset = offsets[index] as bigint;
          ledger.settle(open.get(offset) as OffsetSpan, offset + 1n);
          open.delete(offset);
          const watermark = ledger.watermark ?? -1n;
          const firstOpen = [...open.keys()][0];
          expect(firstOpen === undefined || watermark <= firstOpen).toBe(true);
          expect(watermark >= last).toBe(true);
          // Not only safe but exact: the ledger offers everything before the first record in flight.
          const settledBefore = offsets.filter((other) => firstOpen === undefined || other < firstOpen).at(-1);
          expect(watermark).toBe(settledBefore === undefined ? -1n : settledBefore + 1n);
          last = watermark;
        }
        expect(ledger.inFlight).toBe(0);
      }),
    );
  });
});

const scheduleArbitrary = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 60 }).chain((gaps) =>
  fc.record({
    gaps: fc.constant(gaps),
    order: fc.shuffledSubarray([...gaps.keys()], { minLength: gaps.length, maxLength: gaps.length }),
  }),
);

/** Rising offsets with gaps, as compaction leaves them. */
function offsetsOf(gaps: readonly number[]): bigint[] {
  let offset = 0n;
  return gaps.map((gap) => {
    offset += BigInt(gap);
    return offset;
  });
}
