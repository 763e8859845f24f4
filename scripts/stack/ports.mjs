import { createServer } from "node:net";

// Below Linux's range for outgoing connections: a port from there could be taken by anybody's client between this check and the bind.
const lowestPort = 20_000;
const portCount = 12_000;

/**
 * Ports on 127.0.0.1 that nobody listens on now, all different.
 * @param {number} count
 * @param {() => number} [random]
 * @returns {Promise<number[]>}
 */
export async function freePorts(count, random = Math.random) {
  /** @type {Set<number>} */
  const ports = new Set();
  while (ports.size < count) {
    const port = lowestPort + Math.floor(random() * portCount);
    if (!ports.has(port) && (await isFree(port))) ports.add(port);
  }
  return [...ports];
}

/** @param {number} port @returns {Promise<boolean>} */
export function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
