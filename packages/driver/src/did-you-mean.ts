/**
 * A question that names what was probably meant, or an empty text if no name is similar: if more than `maxDistance` characters differ, by
 * default a third of the name.
 */
export function didYouMean(
  given: string,
  known: readonly string[],
  maxDistance: number = Math.max(2, Math.floor(given.length / 3)),
): string {
  const lower = given.toLowerCase();
  const ranked = known.map((name) => ({ name, distance: editDistance(lower, name.toLowerCase()) })).sort((a, b) => a.distance - b.distance);
  const [nearest] = ranked;
  return nearest !== undefined && nearest.distance <= maxDistance ? `; did you mean ${nearest.name}?` : "";
}

/** The edit distance: how many characters must be inserted, deleted or replaced to turn one text into the other. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
