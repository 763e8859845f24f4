/**
 * Whether nobody is missing in a group: all of its members have joined, and share all partitions evenly. A member's partitions are null until it has
 * joined. One that gets none joins as well: a group that begins without it is rebalanced when it comes.
 */
export function isCompleteGroup(members: readonly (number | null)[], partitions: number): boolean {
  const counts = members.map((count) => count ?? Number.NaN); // not joined: fails every comparison
  const least = Math.floor(partitions / members.length);
  return counts.every((count) => count >= least) && counts.reduce((sum, count) => sum + count, 0) === partitions;
}
