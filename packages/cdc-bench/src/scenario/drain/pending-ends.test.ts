import { expect, test } from "vitest";
import { pendingEnds } from "./pending-ends.ts";

test("a consumer that resumes waits for no partition that got nothing after its checkpoint", () => {
  const ends = new Map([
    [
      "t",
      new Map([
        [0, 50n],
        [1, 70n],
        [2, 5n],
      ]),
    ],
  ]);
  const committed = new Map([
    [0, 50n],
    [1, 60n],
  ]);
  expect(pendingEnds(ends, "t", committed)).toEqual(
    new Map([
      [
        "t",
        new Map([
          [1, 70n],
          [2, 5n],
        ]),
      ],
    ]),
  );
});
