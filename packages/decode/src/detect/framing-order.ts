import type { Framing } from "../framing/framing.ts";
import type { FastPathMatch } from "../encoding/fast-path.ts";
import type { Formats } from "./formats.ts";

/** The framings that are recognised by the first bytes of a message, in the order in which they are asked. */
export class FramingOrder {
  /** Framings that are asked only after the first text of a message was read and more text followed it. */
  readonly ofPackedTexts: readonly Framing[];
  readonly #asked: readonly Framing[];
  /** Filled when a message begins with the byte for the first time: a decoder meets few of the 256. */
  readonly #byFirstByte: (readonly Framing[] | undefined)[] = new Array(256);
  /** Framings that are asked for empty messages. */
  readonly #ofNothing: readonly Framing[];

  constructor({ framings }: Formats) {
    const ofBytes = framings.slice(0, -1).filter(({ headerNames }) => headerNames.length === 0); // the last one accepts every message
    this.ofPackedTexts = ofBytes.filter(({ packsTexts }) => packsTexts === true);
    const others = ofBytes.filter(({ packsTexts }) => packsTexts !== true);
    this.#asked = [...others.filter(isFirst), ...others.filter((framing) => !isFirst(framing))];
    this.#ofNothing = this.#asked.filter(({ prefixes }) => prefixes === undefined);
  }

  /** The framings that a message may have, by its first byte. */
  of(bytes: Uint8Array, start: number, end: number): readonly Framing[] {
    return start < end ? this.#ofByte(bytes[start] as number) : this.#ofNothing;
  }

  #ofByte(byte: number): readonly Framing[] {
    return (this.#byFirstByte[byte] ??= this.#asked.filter((framing) => mayBegin(framing, Buffer.of(byte))));
  }

  /** Whether no framing that is asked before this one may claim a message that the reader takes. Null: no framing is before it. */
  leaves({ head, prefix }: FastPathMatch, framing: Framing | null): boolean {
    const place = framing === null ? -1 : this.#asked.indexOf(framing);
    const before = place === -1 ? this.#asked : this.#asked.slice(0, place);
    return before.every((other) => !mayBegin(other, head ?? prefix));
  }
}

function isFirst({ isAskedFirst }: Framing): boolean {
  return isAskedFirst === true;
}

/** Whether a message of the framing may begin with these bytes. */
function mayBegin({ prefixes }: Framing, head: Buffer): boolean {
  return prefixes === undefined || prefixes.some((prefix) => isSameAsFar(prefix, head));
}

function isSameAsFar(a: Buffer, b: Buffer): boolean {
  const length = Math.min(a.length, b.length);
  return a.compare(b, 0, length, 0, length) === 0;
}
