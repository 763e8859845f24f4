import * as zlib from "node:zlib";
import { bytesOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import type { Frame, Framing } from "./framing.ts";
import {
  codeOf,
  framingFiles,
  type FramingVector,
  framingOf,
  framings,
  messageOf,
  openAll,
  readFramingVectors,
  shown,
} from "./vectors.contract.ts";

const hasZstd = "zstdDecompressSync" in zlib;

describe.each(framingFiles)("%s", (file) => {
  const vectors = readFramingVectors(file);

  test.each(vectors)("$name", (vector) => {
    const message = messageOf(vector);
    const framing = framingOf(message);
    expect(framing.name).toBe(vector.framing);
    const error = vector.needs === "zstd" && !hasZstd ? "unsupported-format" : vector.error;
    if (error !== undefined) {
      expect(codeOf(() => framing.open(message))).toBe(error);
      return;
    }
    if (vector.schemaId === undefined) {
      return; // another suite checks the frame
    }
    const frame = framing.open(message);
    if (vector.chosen !== undefined) {
      expect(frame.schemaId).toBe(vector.schemaId);
      expect(offers(framing, frame, vector.tolerant === true)).toContainEqual({
        ...vector.chosen,
        payload: bytesOf(vector.chosen.payload).toString("hex"),
      });
      return;
    }
    expect(shown(frame)).toEqual({
      schemaId: vector.schemaId,
      schema: vector.schema,
      encoding: vector.encoding,
      message: vector.message,
      payloads: expectedPayloads(vector),
    });
    if (vector.choices !== undefined) {
      const [payload] = frame.payloads;
      expect(framing.choices?.(payload?.bytes ?? Buffer.alloc(0), payload?.start ?? 0, payload?.end ?? 0, false)).toEqual(vector.choices);
    }
  });

  test("recognising and opening a message that is cut at any byte throws no error but a DecodeError", () => {
    for (const vector of vectors) {
      const bytes = bytesOf(vector.value);
      for (let length = 0; length < bytes.length; length++) {
        expectTyped(vector, bytes.subarray(0, length));
      }
    }
  });

  test("recognising and opening a message with any byte changed throws no error but a DecodeError", () => {
    for (const vector of vectors) {
      const bytes = bytesOf(vector.value);
      for (let at = 0; at < bytes.length; at += 1 + Math.floor(bytes.length / 300)) {
        for (const value of [0x00, 0x7f, 0x80, 0xff]) {
          const changed = Buffer.from(bytes);
          changed[at] = value;
          expectTyped(vector, changed);
        }
      }
    }
  });
});

test("a framing that no header announces is shown only messages that begin as its own do: others keep the fast path", () => {
  const shownAll = framings.filter(({ headerNames, prefixes }) => headerNames.length === 0 && prefixes === undefined);
  expect(shownAll.map(({ name }) => name)).toEqual(["none"]);
});

test("no framing reads beyond the message: what stands around it changes nothing", () => {
  for (const vector of framingFiles.flatMap(readFramingVectors)) {
    const bytes = bytesOf(vector.value);
    const alone = { ...messageOf(vector), bytes, start: 0, end: bytes.length };
    expect(outcomes(alone)).toEqual(outcomes(messageOf(vector)));
  }
});

function outcomes(message: ReturnType<typeof messageOf>): unknown {
  return framings.map((framing) => {
    const evidence = framing.recognise(message);
    if (evidence === null) {
      return null;
    }
    try {
      return [evidence, shown(framing.open(message))];
    } catch (error) {
      return [evidence, String(error)];
    }
  });
}

/** Every message that the payload may choose, each with the rest of the payload. */
function offers(framing: Framing, { message, choices: framed, payloads }: Frame, isTolerant: boolean): unknown {
  const [{ bytes, start, end } = { bytes: Buffer.alloc(0), start: 0, end: 0 }] = payloads;
  const choices = message === undefined ? (framed ?? framing.choices?.(bytes, start, end, isTolerant)) : [{ message, length: 0 }];
  return choices?.map((choice) => ({ message: choice.message, payload: bytes.toString("hex", start + choice.length, end) }));
}

function expectTyped(vector: FramingVector, bytes: Buffer): void {
  const message = messageOf(vector, bytes);
  for (const framing of framings) {
    if (framing.recognise(message) !== null) {
      expect(codeOf(() => openAll(framing, message))).not.toBe("");
    }
  }
}

function expectedPayloads({ payload, payloads }: FramingVector): unknown {
  const all = payloads ?? (payload === undefined ? [] : [{ payload, count: 1 }]);
  return all.map((one) => ({ payload: bytesOf(one.payload).toString("hex"), count: one.count }));
}
