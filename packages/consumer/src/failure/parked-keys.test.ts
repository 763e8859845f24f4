import { RecordArrayBatch, recordOf } from "@cdckit/testkit";
import { expect, test } from "vitest";
import type { RecordPlace } from "./record-place.ts";
import { ParkedKeys } from "./parked-keys.ts";

const assignment = { topic: "t", partition: 0, epoch: 1 };

function placeOf(offset: bigint, key: string | null): RecordPlace {
  const record = recordOf(Buffer.from("v"), { topic: "t", partition: 0, offset, key: key === null ? null : Buffer.from(key) });
  return { assignment, batch: new RecordArrayBatch({ assignment, records: [record] }), record: 0, ordinal: 1 };
}

test("a record follows the dead letter of its key that comes before it, and none that comes after it", () => {
  const keys = new ParkedKeys(10);
  keys.park(placeOf(6n, "a"));
  keys.park(placeOf(7n, null));
  const behind = [placeOf(5n, "a"), placeOf(6n, "a"), placeOf(7n, "a"), placeOf(7n, "b"), placeOf(8n, null)].map((place) =>
    keys.behind(place),
  );
  expect([behind, keys.count]).toEqual([[undefined, undefined, 6n, undefined, undefined], 1]);
});

test("a key that is parked takes no more room, whichever of its records comes next", () => {
  const keys = new ParkedKeys(1);
  keys.park(placeOf(6n, "a"));
  expect([placeOf(5n, "a"), placeOf(7n, "a"), placeOf(7n, null), placeOf(7n, "b")].map((place) => keys.wouldPassLimit(place))).toEqual([
    false,
    false,
    false,
    true,
  ]);
});
