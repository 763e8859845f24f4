import { expect, test } from "vitest";
import { hostNamed, readableBroker, withoutColons } from "./ipv6-names.ts";

test.each([
  ["[::1]:9092", "--1.ipv6-literal.net:9092", "::1"],
  ["[2001:db8::a-b]:1", "[2001:db8::a-b]:1", "[2001:db8::a-b]"],
  ["[fe80::1%eth-0]:9092", "fe80--1%eth-0.ipv6-literal.net:9092", "fe80::1%eth-0"],
  ["[::ffff:127.0.0.1]:9092", "--ffff-127.0.0.1.ipv6-literal.net:9092", "::ffff:127.0.0.1"],
  ["b-1.example.com:9092", "b-1.example.com:9092", "b-1.example.com"],
  ["127.0.0.1:9092", "127.0.0.1:9092", "127.0.0.1"],
])("kafkajs gets %s as %s, and the connection goes to %s", (broker, given, host) => {
  expect(withoutColons(broker)).toBe(given);
  expect(hostNamed(given.slice(0, given.lastIndexOf(":")))).toBe(host);
  expect(readableBroker(given)).toBe(broker);
});

test("what a broker advertises is said in brackets, too", () => {
  expect(readableBroker("::1:9092")).toBe("[::1]:9092");
  expect(hostNamed("real.ipv6-literal.net")).toBe("real.ipv6-literal.net");
});
