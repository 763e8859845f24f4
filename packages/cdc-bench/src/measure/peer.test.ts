import { readFile } from "node:fs/promises";
import type { KafkaRecord, RegisteredSchema } from "@cdckit/decode";
import { bundledRecording, loadRecording } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { createAvscPeer, jsonPeer, type Peer } from "./peer.ts";

const avroRecording = bundledRecording("salesorderdetail/confluent-avro");

async function schemasOf(file: string): Promise<readonly RegisteredSchema[]> {
  const text = await readFile(file, "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as RegisteredSchema);
}

function readAll(peer: Peer, records: readonly KafkaRecord[]): void {
  for (const record of records) {
    peer.read(record);
  }
}

test("the peers can read what they are measured on", async () => {
  readAll(jsonPeer, await loadRecording(bundledRecording("salesorderdetail/json").file));
  readAll(jsonPeer, await loadRecording(bundledRecording("salesorderdetail/json-with-schema").file));
  const peer = createAvscPeer(await schemasOf(avroRecording.schemasFile));
  readAll(peer, await loadRecording(avroRecording.file));
});

test("the avsc peer does read: a value that is cut off makes it fail", async () => {
  const [record] = await loadRecording(avroRecording.file);
  const peer = createAvscPeer(await schemasOf(avroRecording.schemasFile));
  expect(() => peer.read({ ...record!, value: record!.value!.subarray(0, 40) })).toThrow("truncated");
});
