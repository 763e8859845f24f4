import { expect, test } from "vitest";
import { toJsonText } from "../report/json-text.ts";
import { reviveFigures } from "./revive-figures.ts";

test("figures that JSON cannot hold are numbers again, and names stay texts", () => {
  const result = {
    topic: "NaN",
    rates: [Number.NaN, 1, Number.POSITIVE_INFINITY],
    inner: { low: Number.NEGATIVE_INFINITY, name: "Infinity" },
  };
  expect(reviveFigures(JSON.parse(toJsonText(result)))).toEqual(result);
});
