import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bytesOf, type WrittenBytes } from "@cdckit/testkit";
import { isDecodeError } from "../errors.ts";
import type { RecordHeaders } from "../record.ts";
import type { Frame, Framing, Message, Side } from "./framing.ts";
import { formatsWith } from "../detect/formats.ts";
import { none } from "./none/recognise.ts";

/** All built-in framings, in the order of `detect/formats.ts`. */
export const framings: readonly Framing[] = formatsWith().framings;

/** One line of a vector file: one side of a record, and the expected result of its framing. `test/vectors/README.md` explains it. */
export interface FramingVector {
  readonly name: string;
  /** The source of the bytes or of the rule. */
  readonly from: string;
  readonly side?: Side;
  readonly headers?: readonly (readonly [string, WrittenBytes | null])[];
  readonly value: WrittenBytes;
  readonly framing: string;
  readonly schemaId?: number | string | null;
  readonly payload?: WrittenBytes;
  /** Set if there are several payloads, or one payload of several values. */
  readonly payloads?: readonly { readonly payload: WrittenBytes; readonly count: number }[];
  readonly schema?: unknown;
  readonly encoding?: string;
  readonly message?: unknown;
  /** A feature that not every runtime has. */
  readonly needs?: "zstd";
  /** The expected result of `choices` for the payload. */
  readonly choices?: unknown;
  /** Whether only tolerant choices include `chosen`. */
  readonly tolerant?: boolean;
  /** A message of a Protobuf schema that the frame or its choices must offer, and the rest of the payload after the choice. */
  readonly chosen?: { readonly message: unknown; readonly payload: WrittenBytes };
  /** The code of the `DecodeError` that `open` throws. */
  readonly error?: string;
}

const folder = join(import.meta.dirname, "../../../../test/vectors/framing");

/** Every file of the folder: a new file adds its tests. */
export const framingFiles: readonly string[] = readdirSync(folder).filter((file) => file.endsWith(".ndjson"));

export function readFramingVectors(file: string): readonly FramingVector[] {
  return readFileSync(join(folder, file), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as FramingVector);
}

/** The vector's message between other bytes, as in a fetched batch. */
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

/** The framing that recognises a message. A framing with header names is asked only if the message has one of these headers. */
export function framingOf(message: Message): Framing {
  const names = new Set(message.headers.map(([name]) => name));
  const asked = framings.filter(({ headerNames }) => headerNames.length === 0 || headerNames.some((name) => names.has(name)));
  return asked.find((framing) => framing.recognise(message) !== null) ?? none;
}

/** A frame in the form that vectors use. */
export function shown({ schemaId, schema, encoding, message, choices, payloads }: Frame): Record<string, unknown> {
  return {
    schemaId,
    schema,
    encoding,
    message: message ?? choices?.[0]?.message, // the likeliest one
    payloads: payloads.map(({ bytes, start, end, count }) => ({ payload: bytes.toString("hex", start, end), count })),
  };
}

/** Opens a message and asks for the choices of its payloads. Throws if a payload reaches beyond its bytes. */
export function openAll(framing: Framing, message: Message): void {
  for (const { bytes, start, end } of framing.open(message).payloads) {
    const last = bytes === message.bytes ? message.end : bytes.length;
    if (start < 0 || end < start || end > last) {
      throw new RangeError(`expected a payload within its bytes, which end at ${last}, found one from ${start} to ${end}`);
    }
    framing.choices?.(bytes, start, end, true);
  }
}

/** The code of the `DecodeError` that a function throws; null if it throws none. Any other error is a bug and is thrown on. */
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
