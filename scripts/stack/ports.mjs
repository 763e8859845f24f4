import { createSocket } from "node:dgram";
import { createServer } from "node:net";

// Below Linux's range for outgoing connections: a port from there could be taken by anybody's client between this check and the bind.
const lowestPort = 20_000;
const portCount = 12_000;

/**
 * Ports on 127.0.0.1 that nobody listens on now, all different. No other process draws them, either, as long as this one lives: a service binds
 * its port seconds after it was drawn, and another stack may be starting at the same time.
 * @param {number} count
 * @param {() => number} [random]
 * @returns {Promise<number[]>}
 */
export async function freePorts(count, random = Math.random) {
  /** @type {Set<number>} */
  const ports = new Set();
  while (ports.size < count) {
    const port = lowestPort + Math.floor(random() * portCount);
    if (!ports.has(port) && (await reserve(port))) ports.add(port);
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

/**
 * Takes the UDP port of this number for this process, which leaves the TCP port to the service. It is a lock that one process at a time can have,
 * and that the system takes back however the process ends.
 * @param {number} port @returns {Promise<boolean>} false if another process has it, or somebody listens on the TCP port
 */
async function reserve(port) {
  const lock = createSocket("udp4");
  const isOurs = await new Promise((/** @type {(isBound: boolean) => void} */ resolve) => {
    lock.once("error", () => resolve(false));
    lock.bind({ port, address: "127.0.0.1", exclusive: true }, () => resolve(true));
  });
  if (!isOurs) {
    return false; // a socket that could not be bound is closed already
  }
  if (await isFree(port)) {
    lock.unref(); // it keeps no process alive
    return true;
  }
  lock.close();
  return false;
}
