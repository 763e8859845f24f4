import fc from "fast-check";
import { expect, test } from "vitest";
import { FrameSplitter, maxFrameBytes } from "./frame-splitter.ts";

/** Receives bytes as a socket does: it fills what the splitter offers, at most so many bytes at once. */
function receive(splitter: FrameSplitter, bytes: Uint8Array, chunkBytes: () => number): void {
  for (let at = 0; at < bytes.length; ) {
    const target = splitter.target();
    expect(target.length).toBeGreaterThan(0);
    const count = Math.min(chunkBytes(), target.length, bytes.length - at);
    target.set(bytes.subarray(at, at + count));
    splitter.filled(count);
    at += count;
  }
}

function frameOf(payload: Uint8Array): Buffer {
  const frame = Buffer.alloc(4 + payload.length);
  frame.writeInt32BE(payload.length);
  frame.set(payload, 4);
  return frame;
}

test("the frames are the same however the bytes are cut into chunks", () => {
  const payload = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    // Longer than what is read at once before a length is known.
    fc.tuple(fc.integer({ min: 60_000, max: 140_000 }), fc.nat(255)).map(([length, byte]) => new Uint8Array(length).fill(byte)),
  );
  fc.assert(
    fc.property(
      fc.array(payload, { maxLength: 6 }),
      fc.infiniteStream(fc.oneof(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 100_000 }))),
      (payloads, chunks) => {
        const found: Buffer[] = [];
        const frames = payloads.map(frameOf);
        receive(new FrameSplitter((frame) => found.push(frame)), Buffer.concat(frames), () => chunks.next().value as number);
        expect(found.length).toBe(frames.length);
        expect(frames.every((frame, at) => frame.equals(found[at] as Buffer))).toBe(true);
      },
    ),
  );
});

test("a frame keeps its bytes while later ones are received", () => {
  const found: Buffer[] = [];
  const splitter = new FrameSplitter((frame) => found.push(frame));
  const frames = [1, 2, 3].map((byte) => frameOf(new Uint8Array(10).fill(byte)));
  frames.forEach((frame) => receive(splitter, frame, () => 100));
  expect(found).toEqual(frames);
});

test("a frame of 100 MB is whole, and nearly all of it is received where it stays", () => {
  const payload = Buffer.alloc(100 * 1024 * 1024, "kafka");
  const found: Buffer[] = [];
  receive(new FrameSplitter((frame) => found.push(frame)), frameOf(payload), () => 1 << 20);
  expect(found.map((frame) => frame.subarray(4).equals(payload))).toEqual([true]);
});

test("memory is taken as bytes arrive, not as a length claims", () => {
  const splitter = new FrameSplitter(() => {});
  const claim = Buffer.alloc(4);
  claim.writeInt32BE(maxFrameBytes - 4);
  receive(splitter, claim, () => 4);
  expect(splitter.target().length).toBeLessThanOrEqual(16 * 1024 * 1024);
});

test.each([
  ["negative", -1],
  ["of 2 GB", 2 ** 31 - 1],
  ["as a web server's first bytes would be", Buffer.from("HTTP").readInt32BE()],
])("a length that is %s is an error", (_, length) => {
  const splitter = new FrameSplitter(() => {
    throw new Error("expected no frame");
  });
  const bytes = Buffer.alloc(12);
  bytes.writeInt32BE(length);
  expect(() => receive(splitter, bytes, () => 12)).toThrow(`[protocol-mismatch] expected the length of a response`);
});

test("a length that is too large is told apart from another protocol if the broker has answered before", () => {
  const tooLarge = Buffer.alloc(4);
  tooLarge.writeInt32BE(maxFrameBytes);
  const messageAfter = (frames: Buffer): string => {
    try {
      receive(new FrameSplitter(() => {}), Buffer.concat([frames, tooLarge]), () => 1_000);
      return "nothing was refused";
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(messageAfter(Buffer.alloc(0))).toContain("Is this a Kafka listener");
  expect(messageAfter(frameOf(new Uint8Array(10)))).toContain("The topic has a record batch that is larger than this driver can read");
});
