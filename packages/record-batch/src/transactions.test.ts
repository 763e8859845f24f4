import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AbortedTransaction } from "./fetched-records.ts";
import { fetched, marker, record, recordsOf, setsOf, writtenBatch } from "./written-batches.contract.ts";

const a = 7n;
const b = 8n;

function of(producerId: bigint, offset: bigint, isTransactional = true): Promise<Buffer> {
  return writtenBatch({ records: [record(offset)], producerId, isTransactional });
}

/** The offsets that are handed over, and where the next fetch begins. */
function read(batches: readonly Buffer[], abortedTransactions: readonly AbortedTransaction[], fromOffset = 0n): (bigint | undefined)[] {
  const sets = setsOf(fetched(Buffer.concat(batches), { abortedTransactions, fromOffset }));
  return [...recordsOf(sets).map(({ offset }) => offset), sets.at(-1)?.nextOffset];
}

describe("records of aborted transactions", () => {
  test("are left out from the first offset of the transaction to its abort marker", async () => {
    const batches = [await of(a, 0n), await marker("commit", 1n, a), await of(a, 2n), await marker("abort", 3n, a), await of(a, 4n)];
    expect(read(batches, [{ producerId: a, firstOffset: 2n }])).toEqual([0n, 4n, 5n]);
  });

  test("are left out if the abort marker is in a later response", async () => {
    expect(read([await of(a, 0n), await of(b, 1n), await of(a, 2n)], [{ producerId: a, firstOffset: 0n }])).toEqual([1n, 3n]);
    const later = [await of(a, 3n), await marker("abort", 4n, a), await of(a, 5n)];
    expect(read(later, [{ producerId: a, firstOffset: 0n }], 3n)).toEqual([5n, 6n]);
  });

  test("are left out of every transaction of a producer, in whatever order the response lists them", async () => {
    const batches = [await of(a, 0n), await marker("abort", 1n, a), await of(a, 2n), await marker("abort", 3n, a), await of(a, 4n)];
    const listed = [
      { producerId: a, firstOffset: 2n },
      { producerId: a, firstOffset: 0n },
    ];
    expect(read(batches, listed)).toEqual([4n, 5n]);
  });

  test("do not take those of other producers with them, nor those without a transaction", async () => {
    const batches = [await of(a, 0n), await of(b, 1n), await of(a, 2n, false), await marker("commit", 3n, b), await marker("abort", 4n, a)];
    expect(read(batches, [{ producerId: a, firstOffset: 0n }])).toEqual([1n, 2n, 5n]);
  });

  test("are not decompressed, but their checksums count", async () => {
    const batch = await of(a, 0n);
    batch.writeUInt8((batch[batch.length - 1] ?? 0) ^ 1, batch.length - 1);
    expect(() => read([batch], [{ producerId: a, firstOffset: 0n }])).toThrow(expect.objectContaining({ code: "crc-mismatch" }));
  });

  test("markers alone move the position on", async () => {
    expect(read([await marker("abort", 9n, a), await marker("commit", 10n, b)], [], 9n)).toEqual([11n]);
  });

  test("any interleaving of transactions gives the committed records alone, however it is cut into responses", async () => {
    const action = fc.record({ producer: fc.nat(3), ends: fc.option(fc.constantFrom("abort" as const, "commit" as const), { freq: 2 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 25 }), fc.nat(30), async (actions, cut) => {
        const { batches, transactions } = await logOf(actions);
        const committed = transactions.filter(({ outcome }) => outcome === "commit").flatMap(({ offsets }) => offsets);
        const middle = Math.min(cut, batches.length);
        const responses = [batches.slice(0, middle), batches.slice(middle)].map((part, second) => {
          const fromOffset = second === 0 ? 0n : BigInt(middle);
          const upTo = fromOffset + BigInt(part.length);
          // As a broker lists them: the aborted transactions that overlap what it returns.
          const aborted = transactions.filter(({ outcome, end, first }) => outcome === "abort" && end >= fromOffset && first < upTo);
          const listed = aborted.map(({ producerId, first }) => ({ producerId, firstOffset: first }));
          return part.length === 0 ? [] : read(part, listed, fromOffset).slice(0, -1);
        });
        expect(responses.flat()).toEqual(committed.sort((x, y) => Number(x - y)));
      }),
      { numRuns: 60 },
    );
  });
});

interface Transaction {
  readonly producerId: bigint;
  readonly first: bigint;
  readonly offsets: bigint[];
  outcome: "abort" | "commit";
  end: bigint;
}

/** One offset a action. Every open transaction is ended at last. */
async function logOf(
  actions: readonly { readonly producer: number; readonly ends: "abort" | "commit" | null }[],
): Promise<{ batches: Buffer[]; transactions: Transaction[] }> {
  const batches: Buffer[] = [];
  const transactions: Transaction[] = [];
  const open = new Map<number, Transaction>();
  const end = async (producer: number, outcome: "abort" | "commit"): Promise<void> => {
    const transaction = open.get(producer);
    if (transaction !== undefined) {
      Object.assign(transaction, { outcome, end: BigInt(batches.length) });
      open.delete(producer);
      batches.push(await marker(outcome, BigInt(batches.length), transaction.producerId));
    }
  };
  for (const { producer, ends } of actions) {
    const offset = BigInt(batches.length);
    if (ends !== null) {
      await end(producer, ends);
      continue;
    }
    const producerId = BigInt(100 + producer);
    const transaction = open.get(producer) ?? { producerId, first: offset, offsets: [], outcome: "commit" as const, end: 0n };
    if (!open.has(producer)) {
      open.set(producer, transaction);
      transactions.push(transaction);
    }
    transaction.offsets.push(offset);
    batches.push(await of(producerId, offset));
  }
  for (const producer of [...open.keys()]) {
    await end(producer, producer % 2 === 0 ? "abort" : "commit");
  }
  return { batches, transactions };
}
