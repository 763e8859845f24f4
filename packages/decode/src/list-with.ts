/**
 * A list that begins with these items. No literal, because V8 might make all later lists in the old generation, and each would keep there what it
 * holds: see `Shapes` in `encoding/codegen.ts`. V8 does not count the lists of rest parameters, which take as long as literals.
 */
export function listWith<Item>(...items: Item[]): Item[] {
  return items;
}
