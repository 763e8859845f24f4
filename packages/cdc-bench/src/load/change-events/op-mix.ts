/** The operations of change events. A delete is followed by its tombstone, as Debezium writes it. */
export const changeOps = ["read", "create", "update", "delete"] as const;

export type ChangeOp = (typeof changeOps)[number];

/** The share of each operation; together 1. */
export type OpMix = Readonly<Record<ChangeOp, number>>;

/**
 * What is written if nobody says otherwise: a snapshot of half of the events, then creates, updates and deletes. The shapes are Debezium's;
 * the shares are a choice, because they belong to an application.
 */
export const defaultOpMix: OpMix = { read: 0.5, create: 0.15, update: 0.3, delete: 0.05 };

/** Only what a snapshot reads. */
export const snapshotOnly: OpMix = { read: 1, create: 0, update: 0, delete: 0 };

/** Shares of any sum, such as 5 updates to 1 create. Throws a `RangeError` if all of them are 0 or one is negative. */
export function opMixOf(shares: Readonly<Partial<Record<ChangeOp, number>>>): OpMix {
  const share = (op: ChangeOp): number => shares[op] ?? 0;
  const sum = changeOps.reduce((total, op) => total + share(op), 0);
  if (!Number.isFinite(sum) || sum <= 0 || changeOps.some((op) => share(op) < 0)) {
    throw new RangeError("the shares of operations must not be negative, and one of them must be more than 0");
  }
  return { read: share("read") / sum, create: share("create") / sum, update: share("update") / sum, delete: share("delete") / sum };
}
