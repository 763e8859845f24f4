import { expect, test } from "vitest";
import { extentOf, type TopicExtent } from "../../load/cluster.ts";
import { givenTopics } from "./given-topics.ts";

interface Offsets {
  readonly low: number;
  readonly high: number;
}

/** Topics as an admin client of kafkajs describes them. */
function clusterOf(topics: Readonly<Record<string, readonly Offsets[]>>): {
  extentsOf(names: readonly string[]): Promise<readonly TopicExtent[]>;
} {
  const fetchTopicOffsets = async (topic: string) =>
    (topics[topic] ?? []).map(({ low, high }, partition) => ({ partition, low: String(low), high: String(high), offset: String(high) }));
  return { extentsOf: (names) => Promise.all(names.map((name) => extentOf({ fetchTopicOffsets }, name))) };
}

test("records that retention took are not counted", async () => {
  const cluster = clusterOf({
    old: [
      { low: 9_994_000, high: 10_000_000 },
      { low: 5_000_000, high: 5_000_000 },
    ],
    young: [{ low: 0, high: 4_000 }],
  });
  expect(await givenTopics(cluster, ["old", "young"])).toEqual({
    topics: ["old", "young"],
    records: 10_000,
    ends: new Map([
      ["old", new Map([[0, 10_000_000n]])],
      ["young", new Map([[0, 4_000n]])],
    ]),
  });
});

test("topics of which retention took everything have nothing to read", async () => {
  const cluster = clusterOf({ old: [{ low: 70, high: 70 }] });
  await expect(givenTopics(cluster, ["old"])).rejects.toMatchObject({ code: "too-few-messages" });
});
