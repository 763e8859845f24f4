import { recordOf } from "@cdckit/testkit";
import { describe, expect, it } from "vitest";
import { createDecoder } from "../../decoder.ts";
import { isDecodeError } from "../../errors.ts";
import type { ChangeEvent, CdcEvent } from "../../index.ts";

/** The source block of an event is read when somebody asks for it. Clients may have filled or transferred its buffer by then. */

const source = '{"version":"3.5.0","connector":"postgresql","name":"p","ts_ms":1,"db":"sales","schema":"public","table":"orders","lsn":7}';
const message = `{"before":null,"after":{"id":1},"op":"c","ts_ms":1,"source":${source}}`;

/** A message in a buffer of its own, which ends with it. */
const ownBytes = (): Uint8Array => Uint8Array.from(Buffer.from(message));

/** Decodes the bytes after many messages of the same shape. */
function decodeWarm(bytes: Uint8Array): ChangeEvent {
  const decoder = createDecoder();
  for (let i = 0; i < 100; i++) {
    void decoder.decode(recordOf(Buffer.from(ownBytes())));
  }
  const [event] = decoder.decode(recordOf(Buffer.from(bytes.buffer))) as readonly CdcEvent[];
  void decoder.decode(recordOf(Buffer.from(ownBytes())));
  return event as ChangeEvent;
}

describe("the source of an event, read late", () => {
  it("is a DecodeError if the buffer was filled with a text that ends in the midst of a name", () => {
    const bytes = ownBytes();
    const event = decodeWarm(bytes);
    const [begin, end] = [message.slice(0, message.indexOf(source)), '","connec'];
    const filled = `${begin}{"version":"${"9".repeat(message.length)}`.slice(0, message.length - end.length) + end;
    bytes.set(Buffer.from(filled));
    expect(thrownBy(() => event.source)).toSatisfy(isDecodeError);
    expect(thrownBy(() => JSON.stringify(event))).toBeNull();
  });

  it("is a DecodeError if the buffer was transferred", () => {
    const bytes = ownBytes();
    const event = decodeWarm(bytes);
    structuredClone(bytes.buffer, { transfer: [bytes.buffer as ArrayBuffer] });
    expect(thrownBy(() => event.source)).toSatisfy(isDecodeError);
  });
});

function thrownBy(read: () => unknown): unknown {
  try {
    read();
    return null;
  } catch (error) {
    return error;
  }
}
