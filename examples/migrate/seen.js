// What a consumer has seen: by it the two are compared.

export const topics = ["av.bank.payments", "js.bank.payments", "jn.bank.payments"];

/**
 * @typedef {object} Seen
 * @property {string} topic
 * @property {string} offset
 * @property {string} [op]
 * @property {string | null} [id]
 * @property {unknown} [amount]
 * @property {unknown} [paidAt]
 * @property {string} [error] why the record could not be read
 */

const maxKept = 10_000;

/** The last records that a consumer has seen, oldest first. */
export class SeenList {
  /** @type {Seen[]} */
  list = [];

  /** @param {Seen} seen */
  add(seen) {
    this.list.push(seen);
    if (this.list.length > maxKept) this.list.shift();
  }
}

/**
 * The records that both have seen, and those of them that they saw differently.
 * @param {readonly Seen[]} before
 * @param {readonly Seen[]} after
 */
export function compareSeen(before, after) {
  const byPlace = new Map(before.map((seen) => [placeOf(seen), seen]));
  const both = after.flatMap((seen) => {
    const other = byPlace.get(placeOf(seen));
    return other === undefined ? [] : [{ place: placeOf(seen), before: valuesOf(other), after: valuesOf(seen) }];
  });
  const different = both.filter((pair) => JSON.stringify(pair.before) !== JSON.stringify(pair.after));
  return { compared: both.length, equal: both.length - different.length, different };
}

/** @param {Seen} seen */
const placeOf = ({ topic, offset }) => `${topic}@${offset}`;

/** @param {Seen} seen */
const valuesOf = ({ op, id, amount, paidAt, error }) => (error === undefined ? { op, id, amount, paidAt } : { error });
