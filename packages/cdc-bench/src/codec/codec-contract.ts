import type { TestFramework } from "@cdckit/testkit";
import { isDeepStrictEqual } from "node:util";
import type { Codec } from "./codec.ts";
import { areSameValues } from "./same-values.ts";

/** A codec, and values that are written and read with it. */
export interface CodecContractOptions<T> {
  /** The codec that is tried. */
  readonly codec: Codec<T>;
  /** Values that the codec must be able to write: each one different from the others. */
  readonly values: readonly [T, T, ...T[]];
}

/** What a codec must keep so that its figures mean something. Takes the functions of vitest, jest or node:test. */
export function testCodecContract<T>({ describe, test, expect }: TestFramework, { codec, values }: CodecContractOptions<T>): void {
  describe(`the codec ${codec.name}`, () => {
    test("gives back each value that it was given", async () => {
      for (const value of values) {
        expect(areSameValues(await codec.deserialize(await codec.serialize(value)), value)).toEqual(true);
      }
    });

    test("leaves the value as it was", async () => {
      for (const value of values) {
        const before = structuredClone(value);
        await codec.serialize(value);
        expect(isDeepStrictEqual(value, before)).toEqual(true);
      }
    });

    test("leaves bytes alone that it gave away", async () => {
      const [first, second] = values;
      const bytes = await codec.serialize(first);
      const copy = Uint8Array.from(bytes);
      await codec.serialize(second);
      expect(isDeepStrictEqual(Uint8Array.from(bytes), copy)).toEqual(true);
    });

    test("reads bytes in the middle of a buffer, and leaves them as they were", async () => {
      for (const value of values) {
        const bytes = await codec.serialize(value);
        const padded = Buffer.alloc(bytes.byteLength + 16, 0x5a);
        padded.set(bytes, 8);
        const read = await codec.deserialize(padded.subarray(8, 8 + bytes.byteLength));
        expect(areSameValues(read, value)).toEqual(true);
        expect(isDeepStrictEqual(Uint8Array.from(padded.subarray(8, 8 + bytes.byteLength)), Uint8Array.from(bytes))).toEqual(true);
      }
    });

    test("never takes bytes that are cut for the whole value", async () => {
      const bytes = await codec.serialize(values[0]);
      for (const length of [0, 1, bytes.byteLength >> 1, bytes.byteLength - 1]) {
        expect(areSameValues(await readOrError(codec, bytes.subarray(0, length)), values[0])).toEqual(false);
      }
    });
  });
}

async function readOrError<T>(codec: Codec<T>, bytes: Uint8Array): Promise<T | Error> {
  try {
    return await codec.deserialize(bytes);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
