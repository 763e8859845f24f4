import { connect as connectPlain, isIP, isIPv6 } from "node:net";
import { connect as connectTls } from "node:tls";
import type { ISocketFactory } from "kafkajs";

const keepAliveDelayMs = 60_000; // kafkajs' own

/**
 * `[::1]:9092` as `[//1]:9092`, because kafkajs ends the host of an address at the first colon. Any other address stays as it is. No address
 * and no name of a network interface (`fe80::1%eth-0`) has a slash.
 */
export function withoutColons(broker: string): string {
  const [, address, port] = /^\[([^\]]+)\]:(\d+)$/.exec(broker) ?? [];
  return address === undefined ? broker : `[${address.replaceAll(":", "/")}]:${port}`;
}

/** Makes kafkajs' sockets as kafkajs does, and knows what address {@link withoutColons} means. */
export const openSocket: ISocketFactory = ({ host: name, port, ssl, onConnect }) => {
  const address = name.replace(/^\[(.*)\]$/, (_, slashed: string) => slashed.replaceAll("/", ":"));
  const host = isIPv6(address) ? address : name;
  const socket = ssl
    ? connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }), ...ssl }, onConnect)
    : connectPlain({ host, port }, onConnect);
  socket.setKeepAlive(true, keepAliveDelayMs);
  return socket;
};
