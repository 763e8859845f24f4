import { readFileSync } from "node:fs";
import type { RegisteredSchema } from "@cdckit/decode";
import { type BundledRecording, bundledRecording } from "@cdckit/testkit";
import { createAvscPeer, jsonPeer, type Peer } from "../measure/peer.ts";

/** The same rows in one format, and what people decode that format with today. */
export interface ComparedFormat {
  readonly title: string;
  readonly recording: BundledRecording;
  readonly createPeer: () => Peer;
}

/** The same 2,000 rows of one table, as three converters wrote them. */
export function comparedFormats(): readonly ComparedFormat[] {
  const avro = bundledRecording("salesorderdetail/confluent-avro");
  return [
    { title: "JSON with schema", recording: bundledRecording("salesorderdetail/json-with-schema"), createPeer: () => jsonPeer },
    { title: "JSON", recording: bundledRecording("salesorderdetail/json"), createPeer: () => jsonPeer },
    { title: "Confluent Avro", recording: avro, createPeer: () => createAvscPeer(schemasIn(avro.schemasFile)) },
  ];
}

function schemasIn(file: string): readonly RegisteredSchema[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as RegisteredSchema);
}
