import { getEventListeners } from "node:events";
import { bundledRecording } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { openRecordFeed } from "./record-feed.ts";
import type { Source } from "./source.ts";

const source: Source = { kind: "file", file: bundledRecording("salesorderdetail/json").file, schemasFile: undefined, registry: undefined };

test("a feed that has ended leaves nothing at the interrupt: a command may read hundreds of topics", async () => {
  const { signal } = new AbortController();
  for await (const record of openRecordFeed(source, { interrupt: signal })) {
    expect(record.offset).toBeDefined();
    break;
  }
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
