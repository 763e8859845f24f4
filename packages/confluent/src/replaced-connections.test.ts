import { expect, test } from "vitest";
import { ReplacedConnections } from "./replaced-connections.ts";

function replacedBy(...counts: readonly (readonly [timeouts: number, disconnects: number])[]): number {
  let replaced = 0;
  const connections = new ReplacedConnections((why) => {
    expect(why).toBe("broker-1:9092/1 did not answer in time");
    replaced++;
  });
  for (const [timeouts, disconnects] of counts) {
    connections.take({ connections: [{ name: "broker-1:9092/1", timeouts, disconnects }] });
  }
  return replaced;
}

test("a connection that ends after a request without an answer is counted once", () => {
  expect(replacedBy([0, 0], [3, 1], [3, 1])).toBe(1);
  expect(replacedBy([0, 0], [1, 0], [1, 1], [1, 1])).toBe(1);
  expect(replacedBy([0, 0], [1, 1], [2, 2])).toBe(2);
});

test("a connection that a broker closes, and a request that was given up before it was sent, are not counted", () => {
  expect(replacedBy([0, 0], [0, 1], [0, 2])).toBe(0);
  expect(replacedBy([0, 0], [2, 0], [5, 0])).toBe(0);
  expect(replacedBy([0, 0], [0, 1], [1, 1])).toBe(0);
});

test("what was counted before the first report is not counted", () => {
  expect(replacedBy([7, 7], [7, 7])).toBe(0);
});
