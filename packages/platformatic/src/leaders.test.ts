import { silentLogger } from "@cdckit/consumer";
import { expect, test } from "vitest";
import type { Cluster } from "./cluster.ts";
import { Leaders } from "./leaders.ts";

const [old, recreated] = ["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"];

/** Who leads `rows[0]` after these answers: the leader, its epoch and the topic's id of each. */
async function leaderAfter(...answers: readonly (readonly [leaderId: number, leaderEpoch: number, topicId?: string])[]) {
  const left = [...answers];
  const metadata = async () => {
    const [leaderId, leaderEpoch, topicId] = left.shift() ?? [-1, -1];
    return { topics: [{ errorCode: 0, name: "rows", topicId, partitions: [{ errorCode: 0, partitionIndex: 0, leaderId, leaderEpoch }] }] };
  };
  const leaders = new Leaders({
    cluster: { metadata, node: (id: number) => (id < 0 ? undefined : { host: "b", port: id }) } as unknown as Cluster, // as much as is asked
    topics: () => ["rows"],
    logger: silentLogger,
    maxAgeMs: 1_000,
    found: () => {},
    refreshed: () => {},
  });
  for (const _ of answers) {
    await leaders.refresh();
  }
  return leaders.of("rows", 0)?.node;
}

test("a broker that is late does not bring the leader of an earlier epoch back", async () => {
  expect(await leaderAfter([1, 4, old], [2, 5, old], [1, 4, old])).toBe(2);
  expect(await leaderAfter([1, 4, old], [2, 4, old])).toBe(2);
});

test("nor does it while the partition has no leader", async () => {
  expect(await leaderAfter([1, 4, old], [-1, 5, old], [1, 4, old])).toBeUndefined();
  expect(await leaderAfter([1, 4, old], [-1, 5, old], [2, 6, old])).toBe(2);
});

test("the epochs of a recreated topic begin anew, also if brokers do not tell that it is another one", async () => {
  expect(await leaderAfter([1, 4, old], [2, 0, recreated])).toBe(2);
  expect(await leaderAfter([1, 4], [2, 0])).toBe(2);
});
