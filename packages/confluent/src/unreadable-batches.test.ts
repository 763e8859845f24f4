import { describe, expect, it } from "vitest";
import { type ClientError, codes } from "./low-level-client.ts";
import { UnreadableBatches } from "./unreadable-batches.ts";

const errorOf = (code: number): ClientError => Object.assign(new Error("Local: Bad message format"), { code });

describe("UnreadableBatches", () => {
  it.each([codes.badMessage, codes.badCompression, codes.notImplemented])("ends the session at the third error %i in a row", (code) => {
    const batches = new UnreadableBatches();
    expect(batches.take(errorOf(code), 0)).toBeNull();
    expect(batches.take(errorOf(code), 500)).toBeNull();
    expect(batches.take(errorOf(code), 1_000)).toMatchObject({ code: "batch-unreadable", cause: { code } });
  });

  it("says what is missing if librdkafka was built without a compression", () => {
    const batches = new UnreadableBatches();
    const errors = [0, 500, 1_000].map((atMs) => batches.take(errorOf(codes.notImplemented), atMs));
    expect(errors.at(-1)?.message).toContain("libzstd-dev");
  });

  it("lets damage pass that comes seldom", () => {
    const batches = new UnreadableBatches();
    for (let i = 0; i < 10; i++) {
      expect(batches.take(errorOf(codes.badMessage), i * 6_000)).toBeNull();
    }
  });

  it("has nothing to do with other errors", () => {
    const batches = new UnreadableBatches();
    for (let i = 0; i < 10; i++) {
      expect(batches.take(errorOf(codes.transport), i)).toBeNull();
    }
  });
});
