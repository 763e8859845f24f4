/** Compares one part of two positions, with the result of `comparePosition`. Null if the texts do not have the expected form. */
export type ComparePart = (a: string, b: string) => number | null;

const integer = /^-?\d{1,30}$/;
const hexadecimal = /^[0-9a-fA-F]{1,32}$/;

export const asInteger: ComparePart = (a, b) => (integer.test(a) && integer.test(b) ? sign(BigInt(a), BigInt(b)) : null);

/** Compares texts in the order of their characters. */
export const asText: ComparePart = (a, b) => (a === b ? 0 : a < b ? -1 : 1);

/** Compares parts that must be equal. If they differ, the parts after them cannot be compared. */
export const asSame: ComparePart = (a, b) => (a === b ? 0 : null);

/** Compares log sequence numbers of SQL Server and Db2: hexadecimal numbers with colons between them. */
export const asLogSequence: ComparePart = (a, b) => {
  const [left, right] = [a.split(":"), b.split(":")];
  if (left.length !== right.length || ![...left, ...right].every((number) => hexadecimal.test(number))) {
    return null;
  }
  for (const [i, number] of left.entries()) {
    const difference = sign(BigInt(`0x${number}`), BigInt(`0x${right[i]}`));
    if (difference !== 0) {
      return difference;
    }
  }
  return 0;
};

function sign(a: bigint, b: bigint): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
