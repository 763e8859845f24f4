import { expect, test } from "vitest";
import { settingsText } from "./settings-text.ts";

test("a setting that is left to the driver says so", () => {
  expect(settingsText({ batchMs: null, order: "key", fetchBytes: null })).toBe("batchMs=null  order=key  fetchBytes=the driver's own");
  expect(settingsText({ fetchBytes: 65_536 })).toBe("fetchBytes=65536");
});
