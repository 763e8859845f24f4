import { expect, test } from "vitest";
import { type Cluster, extentOf } from "../../load/cluster.ts";
import type { HeldBack } from "../../load/held-back.ts";
import { givenTopics } from "./given-topics.ts";

interface Offsets {
  readonly low: number;
  readonly high: number;
}

/** Topics as an admin client of kafkajs describes them. */
function clusterOf(
  topics: Readonly<Record<string, readonly Offsets[]>>,
  heldBack: readonly HeldBack[] = [],
): Pick<Cluster, "extentsOf" | "heldBackOf"> {
  const fetchTopicOffsets = async (topic: string) =>
    (topics[topic] ?? []).map(({ low, high }, partition) => ({ partition, low: String(low), high: String(high), offset: String(high) }));
  return {
    extentsOf: (names) => Promise.all(names.map((name) => extentOf({ fetchTopicOffsets }, name))),
    heldBackOf: async () => heldBack,
  };
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
    heldBack: [],
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

test("what open transactions hold back is said, also if it is everything", async () => {
  const held = [{ topic: "t", offsets: 5n, partitions: [0] }];
  const sentence = "t: an open transaction holds back 5 offsets of partition 0";
  expect((await givenTopics(clusterOf({ t: [{ low: 0, high: 9 }] }, held), ["t"])).heldBack).toEqual([expect.stringContaining(sentence)]);
  await expect(givenTopics(clusterOf({ t: [{ low: 9, high: 9 }] }, held), ["t"])).rejects.toMatchObject({
    detail: expect.stringContaining(sentence) as string,
  });
});
