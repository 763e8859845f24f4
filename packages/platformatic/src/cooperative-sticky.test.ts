import { placeOf, type Place } from "@cdckit/driver";
import fc from "fast-check";
import { expect, test } from "vitest";
import { assignPartitions } from "./cooperative-sticky.ts";
import type { MemberSubscription } from "./group-protocol.ts";

const places = (topic: string, ...partitions: readonly number[]): readonly Place[] => partitions.map((partition) => ({ topic, partition }));
const member = (owned: readonly Place[] = [], generation = 1, topics: readonly string[] = ["t"]): MemberSubscription => ({
  topics,
  owned,
  generation,
});
const partitionsOf = (assigned: ReadonlyMap<string, readonly Place[]>, id: string): readonly number[] =>
  (assigned.get(id) ?? []).map(({ partition }) => partition).sort((a, b) => a - b);

test("a partition that is to move is left out until the member that holds it has joined without it", () => {
  const counts = new Map([["t", 4]]);
  const first = assignPartitions(
    new Map([
      ["a", member(places("t", 0, 1, 2, 3))],
      ["b", member([], -1)],
    ]),
    counts,
  );
  expect([partitionsOf(first, "a").length, partitionsOf(first, "b")]).toEqual([2, []]);
  const kept = first.get("a") ?? [];
  const second = assignPartitions(
    new Map([
      ["a", member(kept, 2)],
      ["b", member([], 2)],
    ]),
    counts,
  );
  expect([second.get("a"), partitionsOf(second, "b").length]).toEqual([kept, 2]);
});

test("if two members claim a partition, the claim of the later generation counts", () => {
  const claims = new Map([
    ["a", member(places("t", 0), 3)],
    ["b", member(places("t", 0), 5)],
  ]);
  const assigned = assignPartitions(claims, new Map([["t", 2]]));
  expect([partitionsOf(assigned, "a"), partitionsOf(assigned, "b")]).toEqual([[1], [0]]);
});

test("a partition of a topic that its holder does not want any more goes to nobody before the holder has let go", () => {
  const subscriptions = new Map([
    ["a", member(places("t", 0), 1, ["u"])],
    ["b", member([], 1)],
  ]);
  expect(
    partitionsOf(
      assignPartitions(
        subscriptions,
        new Map([
          ["t", 1],
          ["u", 0],
        ]),
      ),
      "b",
    ),
  ).toEqual([]);
});

test("whatever members hold and want, the joins end in a fair division, and no partition ever has two members", () => {
  const subscription = fc.record({
    topics: fc.subarray(["t", "u", "v"], { minLength: 1 }),
    owned: fc.subarray([...places("t", 0, 1, 2, 3, 4), ...places("u", 0, 1, 2), ...places("v", 0)]),
    generation: fc.integer({ min: -1, max: 3 }),
  });
  const counts = new Map([
    ["t", 5],
    ["u", 3],
    ["v", 1],
  ]);
  fc.assert(
    fc.property(fc.array(subscription, { minLength: 1, maxLength: 5 }), (all) => {
      let members = new Map<string, MemberSubscription>(all.map((one, i) => [`m${i}`, one]));
      for (let round = 0; round < 3; round++) {
        const held = new Map<string, string>();
        for (const [id, assigned] of assignPartitions(members, counts)) {
          for (const { topic, partition } of assigned) {
            expect(held.has(placeOf(topic, partition))).toBe(false);
            held.set(placeOf(topic, partition), id);
            // Nobody gets what another one claims in a later generation.
            const claims = [...members].filter(([, { owned }]) => owned.some((one) => one.topic === topic && one.partition === partition));
            expect(claims.length === 0 || claims.some(([claimant]) => claimant === id)).toBe(true);
          }
        }
        const assigned = assignPartitions(members, counts);
        members = new Map([...members].map(([id, { topics }]) => [id, { topics, owned: assigned.get(id) ?? [], generation: 10 + round }]));
      }
      const wanted = new Set(all.flatMap(({ topics }) => topics));
      const total = [...counts].reduce((sum, [topic, count]) => sum + (wanted.has(topic) ? count : 0), 0);
      expect([...members.values()].reduce((sum, { owned }) => sum + owned.length, 0)).toBe(total);
      for (const { owned } of members.values()) {
        for (const { topic } of owned) {
          const others = [...members.values()].filter(({ topics }) => topics.includes(topic));
          expect(owned.length - Math.min(...others.map((other) => other.owned.length))).toBeLessThanOrEqual(1);
        }
      }
    }),
  );
});
