/**
 * The cycles of a graph, each found once, as a path that ends where it began.
 * @param {Map<string, readonly string[]>} edges
 * @returns {string[][]}
 */
export function findCycles(edges) {
  const done = new Set();
  /** @type {string[]} */
  const path = [];
  /** @type {string[][]} */
  const cycles = [];
  /** @param {string} node */
  const visit = (node) => {
    const start = path.indexOf(node);
    if (start >= 0) {
      cycles.push([...path.slice(start), node]);
      return;
    }
    if (done.has(node)) {
      return;
    }
    path.push(node);
    for (const next of new Set(edges.get(node) ?? [])) {
      visit(next);
    }
    path.pop();
    done.add(node);
  };
  for (const node of edges.keys()) {
    visit(node);
  }
  return cycles;
}
