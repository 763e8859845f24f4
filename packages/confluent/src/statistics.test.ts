import { placeOf } from "@cdckit/driver";
import { expect, test } from "vitest";
import { readReport } from "./statistics.ts";

test("a report names the brokers that are not connected, apart from the coordinator's own connection", () => {
  const brokers = {
    "b:1/1": { nodeid: 1, state: "UP" },
    "b:2/2": { nodeid: 2, state: "TRY_CONNECT" },
    GroupCoordinator: { nodeid: 1, state: "DOWN" },
  };
  expect(readReport(JSON.stringify({ brokers }))).toMatchObject({ isConnected: true, unconnected: new Map([[2, "b:2/2"]]) });
});

test("a report names the partitions without a leader and those that are not fetched, without librdkafka's own partition", () => {
  const partitions = {
    "-1": { fetch_state: "none", leader: -1 },
    0: { fetch_state: "active", leader: 2, broker: 3 },
    1: { fetch_state: "active", leader: -1, broker: -1 },
    2: { fetch_state: "stopped", leader: 1, broker: 1 },
  };
  expect(readReport(JSON.stringify({ topics: { rows: { partitions } } }))).toMatchObject({
    leaderless: [{ topic: "rows", partition: 1 }],
    stopped: [{ topic: "rows", partition: 2 }],
    sources: new Map([
      [placeOf("rows", 0), 3],
      [placeOf("rows", 2), 1],
    ]),
  });
});
