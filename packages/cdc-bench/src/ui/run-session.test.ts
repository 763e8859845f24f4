import { expect, test } from "vitest";
import { titleOf } from "./run-session.ts";

test("a title is the command line, without what logs in", () => {
  const args = [
    "--database=postgres://u:p@ss@db/shop",
    "--sink-url=postgres://db/shop?user=me&password=hunter2",
    "-n",
    "1000",
    "--key",
    "a b",
  ];
  expect(titleOf("drain", args)).toBe("drain --database=postgres://db/shop --sink-url=postgres://db/shop -n 1000 --key 'a b'");
});
