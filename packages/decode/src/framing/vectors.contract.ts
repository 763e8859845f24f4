import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bytesOf, type WrittenBytes } from "@cdckit/testkit";
import { isDecodeError } from "../errors.ts";
import type { RecordHeaders } from "../record.ts";
import type { Frame, Framing, Message, Side } from "./framing.ts";
import { apicurio, apicurioHeaderWith, apicurioJson } from "./apicurio/recognise.ts";
import { azure, azureHeader } from "./azure/recognise.ts";
import { buf } from "./buf/recognise.ts";
import { confluent } from "./confluent/recognise.ts";
import { confluentGuid, confluentGuidHeader } from "./confluent-guid/recognise.ts";
import { glue } from "./glue/recognise.ts";
import { none } from "./none/recognise.ts";
import { ocf } from "./ocf/recognise.ts";
import { singleObject } from "./single-object/recognise.ts";
import { ticdc, ticdcMaxwell } from "./ticdc/recognise.ts";

/** In the order of asking: headers, exact marks, and then what needs a registry to confirm it. */
export const framings: readonly Framing[] = [
  confluentGuidHeader,
  apicurioHeaderWith("avro-json"),
  azureHeader,
  buf,
  ocf,
  singleObject,
  glue,
  azure,
  ticdc,
  ticdcMaxwell,
  apicurio,
  confluentGuid,
  apicurioJson,
  confluent,
  none,
];

/** One line of a vector file: one side of a record, and what its framing says. */
export interface FramingVector {
  readonly name: string;
  /** Where the bytes or the rule come from. */
  readonly from: string;
  readonly side?: Side;
  readonly headers?: readonly (readonly [string, WrittenBytes | null])[];
  readonly value: WrittenBytes;
  readonly framing: string;
  readonly schemaId?: number | string | null;
  readonly payload?: WrittenBytes;
  /** Where there are several payloads, or one of several values. */
  readonly payloads?: readonly { readonly payload: WrittenBytes; readonly count: number }[];
  readonly schema?: unknown;
  readonly encoding?: string;
  readonly message?: unknown;
  /** What not every runtime has. */
  readonly needs?: "zstd";
  /** What `choices` makes of the payload. */
  readonly choices?: unknown;
  /** Whether only the tolerant choices have it. */
  readonly tolerant?: boolean;
  /** A message of a Protobuf schema that the frame or its choices must offer, and what is then left of the payload. */
  readonly chosen?: { readonly message: unknown; readonly payload: WrittenBytes };
  /** The code of the `DecodeError` that opening ends in. */
  readonly error?: string;
}

const folder = join(import.meta.dirname, "../../../../test/vectors/framing");

export function readFramingVectors(file: string): readonly FramingVector[] {
  return readFileSync(join(folder, file), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as FramingVector);
}

/** The vector's message in the middle of other bytes, as a fetched batch has it. */
export function messageOf(vector: FramingVector, bytes: Buffer = bytesOf(vector.value), maxBytes: number = 67_108_864): Message {
  const neighbours = Buffer.from("7b0c00c3010100000000220000000005", "hex");
  const headers: RecordHeaders = (vector.headers ?? []).map(([name, value]) => [name, value === null ? null : bytesOf(value)]);
  return {
    side: vector.side ?? "value",
    bytes: Buffer.concat([neighbours, bytes, neighbours]),
    start: neighbours.length,
    end: neighbours.length + bytes.length,
    headers,
    maxBytes,
  };
}

/** The framing that takes a message: one that has header names is asked only where one of them is there. */
export function framingOf(message: Message): Framing {
  const names = new Set(message.headers.map(([name]) => name));
  const asked = framings.filter(({ headerNames }) => headerNames.length === 0 || headerNames.some((name) => names.has(name)));
  return asked.find((framing) => framing.recognise(message) !== null) ?? none;
}

/** A frame as vectors write it. */
export function shown({ schemaId, schema, encoding, message, payloads }: Frame): Record<string, unknown> {
  return {
    schemaId,
    schema,
    encoding,
    message,
    payloads: payloads.map(({ bytes, start, end, count }) => ({ payload: bytes.toString("hex", start, end), count })),
  };
}

/** Opens a message and asks for what its payloads choose; throws where a payload reaches beyond its bytes. */
export function openAll(framing: Framing, message: Message): void {
  for (const { bytes, start, end } of framing.open(message).payloads) {
    const last = bytes === message.bytes ? message.end : bytes.length;
    if (start < 0 || end < start || end > last) {
      throw new RangeError(`a payload from ${start} to ${end}, of bytes that end at ${last}`);
    }
    framing.choices?.(bytes, start, end, true);
  }
}

/** The code of the `DecodeError` that a function throws; null where it throws none. Anything else that it throws is a bug. */
export function codeOf(run: () => unknown): string | null {
  try {
    run();
    return null;
  } catch (error) {
    if (!isDecodeError(error)) {
      throw error;
    }
    return error.code;
  }
}
