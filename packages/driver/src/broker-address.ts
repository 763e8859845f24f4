/** Where a broker is reached. */
export interface HostAndPort {
  /** A name or an address, without brackets. */
  readonly host: string;
  /** The port of a listener. */
  readonly port: number;
}

/** The parts of a checked `host:port`. An IPv6 address stands in brackets there, as in `[::1]:9092`, and without them in what sockets take. */
export function hostAndPort(broker: string): HostAndPort {
  const colon = broker.lastIndexOf(":");
  return { host: broker.slice(0, colon).replace(/^\[(.*)\]$/, "$1"), port: Number(broker.slice(colon + 1)) };
}

/** `host:port`, with an IPv6 address in brackets: without them, nobody could tell where it ends. */
export function brokerText({ host, port }: HostAndPort): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
