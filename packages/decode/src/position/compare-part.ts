/** How one part of two positions compares: as `comparePosition`, null where the texts are not what they should be. */
export type ComparePart = (a: string, b: string) => number | null;

const integer = /^-?\d{1,30}$/;
const hexadecimal = /^[0-9a-fA-F]{1,32}$/;

export const asInteger: ComparePart = (a, b) => (integer.test(a) && integer.test(b) ? sign(BigInt(a), BigInt(b)) : null);

/** Text whose order is that of its characters. */
export const asText: ComparePart = (a, b) => (a === b ? 0 : a < b ? -1 : 1);

/** What must be the same for the parts behind it to be comparable. */
export const asSame: ComparePart = (a, b) => (a === b ? 0 : null);

/** SQL Server's and Db2's log sequence numbers: hexadecimal numbers with colons between them. */
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
