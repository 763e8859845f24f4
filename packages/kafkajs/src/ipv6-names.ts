import { isIPv6 } from "node:net";
import { brokerText, hostAndPort } from "@cdckit/driver";

/**
 * kafkajs ends the host of an address at the first colon. So it gets an IPv6 address as a name without colons, in the form that Windows has for
 * that, and the driver's sockets connect to the address itself. What brokers advertise, kafkajs takes as it is.
 */
const ending = ".ipv6-literal.net";

/** `[::1]:9092` as `--1.ipv6-literal.net:9092`. Any other address stays as it is. */
export function withoutColons(broker: string): string {
  const { host, port } = hostAndPort(broker);
  return isIPv6(host) ? `${host.replace(/^[^%]+/, (address) => address.replaceAll(":", "-"))}${ending}:${port}` : broker;
}

/** The host to connect to, of one that kafkajs asks for. */
export function hostNamed(host: string): string {
  const address = host.endsWith(ending) ? host.slice(0, -ending.length).replace(/^[^%]+/, (name) => name.replaceAll("-", ":")) : host;
  return isIPv6(address) ? address : host;
}

/** An address as kafkajs says it, in the form of the option `brokers`. */
export function readableBroker(broker: string): string {
  if (!broker.includes(":")) {
    return broker;
  }
  const { host, port } = hostAndPort(broker);
  return brokerText({ host: hostNamed(host), port });
}
