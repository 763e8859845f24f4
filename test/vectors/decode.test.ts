import { describe, test } from "vitest";
import { checkVector } from "./check-vector.ts";
import { vectorFiles } from "./vector.ts";

describe.each(vectorFiles("decode"))("$file", ({ vectors }) => {
  test.each(vectors)("$name", checkVector);
});
