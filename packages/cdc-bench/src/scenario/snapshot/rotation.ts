/** The items in the order of a round: each round another one comes first, so that what follows from the order evens out. */
export function rotated<Item>(items: readonly Item[], round: number): readonly Item[] {
  const shift = items.length === 0 ? 0 : round % items.length;
  return [...items.slice(shift), ...items.slice(0, shift)];
}
