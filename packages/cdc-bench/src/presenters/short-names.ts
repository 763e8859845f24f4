/**
 * Names without what all of them begin and end with, as far as whole parts go (`.`, `-` and `_` separate parts): a table of topics has 80
 * columns. A single name, and names that would be empty, stay.
 */
export function shortNames(names: readonly string[]): ReadonlyMap<string, string> {
  const all = [...new Set(names)];
  if (all.length < 2) {
    return new Map(all.map((name) => [name, name])); // of no names, all have every part in common
  }
  const parts = all.map((name) => name.split(/(?<=[._-])|(?=[.])/));
  const shortest = Math.min(...parts.map((each) => each.length));
  let front = 0;
  while (front < shortest - 1 && parts.every((each) => each[front] === parts[0]?.[front])) {
    front++;
  }
  let back = 0;
  while (back < shortest - 1 - front && parts.every((each) => each.at(-1 - back) === parts[0]?.at(-1 - back))) {
    back++;
  }
  return new Map(all.map((name, i) => [name, parts[i]?.slice(front, back === 0 ? undefined : -back).join("") ?? name]));
}
