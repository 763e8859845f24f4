import fc from "fast-check";
import { expect, test } from "vitest";
import { transactionalIdOf } from "./transactional-id.ts";

const groupId = fc.string({ unit: fc.constantFrom("a", "b", ".", ":", "0"), minLength: 1, maxLength: 8 });
const topic = fc.string({ unit: fc.constantFrom("a", "b", ".", "0"), minLength: 1, maxLength: 8 });
const partition = fc.nat({ max: 11 });

test("each partition of each group has a transactional id of its own, whatever dots are in the names", () => {
  const idOf = new Map<string, string>();
  fc.assert(
    fc.property(groupId, topic, partition, (ofGroup, ofTopic, number) => {
      const place = JSON.stringify([ofGroup, ofTopic, number]);
      const id = transactionalIdOf(ofGroup, { topic: ofTopic, partition: number });
      expect(idOf.get(id) ?? place).toBe(place);
      idOf.set(id, place);
    }),
    {
      numRuns: 20_000,
      examples: [
        ["a", "b.c", 0],
        ["a.b", "c", 0],
      ],
    },
  );
});

test("a transactional id begins with the name of the group and a dot, and is as it has always been for a group without dots", () => {
  expect(transactionalIdOf("stock", { topic: "shop.public.items", partition: 3 })).toBe("stock.shop.public.items.3");
  expect(transactionalIdOf("stock.copy", { topic: "shop.public.items", partition: 3 })).toBe("stock.copy.:shop.public.items.3");
});
