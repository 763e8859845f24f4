import { readFileSync } from "node:fs";
import type { TopicHints } from "@cdckit/decode";
import { BenchError } from "../bench-error.ts";

type Hints = Readonly<Record<string, TopicHints>>;

const known: readonly (keyof TopicHints)[] = [
  "table",
  "columns",
  "schemaIdentity",
  "fieldNames",
  "emptyAsTombstone",
  "binaryHandling",
  "key",
  "value",
];

/** What a file says about topics: the `topics` of `createDecoder`, as one JSON object. */
export function readHints(file: string): Hints {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new BenchError("usage", `${file}: the file of --hints cannot be read.`, { cause });
  }
  const hints = parsed(file, text);
  for (const [topic, hint] of Object.entries(hints)) {
    const stray = isObject(hint) ? Object.keys(hint).find((name) => !known.includes(name as keyof TopicHints)) : "(no object)";
    if (stray !== undefined) {
      throw new BenchError("usage", `${file}: the hints of topic ${topic} have ${stray}; expected ${known.join(", ")}.`);
    }
  }
  return hints as Hints; // the decoder judges what they say
}

function parsed(file: string, text: string): Readonly<Record<string, unknown>> {
  const expected = `${file}: expected one JSON object of hints by topic, such as {"orders": {"value": {"encoding": "cbor"}}}.`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new BenchError("usage", expected, { cause });
  }
  if (!isObject(value)) {
    throw new BenchError("usage", expected);
  }
  return value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
