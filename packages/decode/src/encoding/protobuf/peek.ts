import { checkText, TextMemo } from "../utf8-text.ts";
import { type Cursor, readEnd, readTag, skipField, wire } from "./cursor.ts";
import type { DeferInstruction } from "./read-instructions.ts";

/**
 * Reads a few texts of a deferred message and returns what they resolve to. While the texts stay the same, the result is the same object.
 * The other texts of the message are checked for UTF-8 here, because the message is read later.
 */
export function peekReader(
  at: Cursor,
  { peek, absent, resolve, texts }: DeferInstruction,
): (b: Uint8Array, p: number, e: number) => unknown {
  const places = new Map<number, number>();
  for (const [place, number] of peek.entries()) {
    if (number > 0) {
      places.set(tagOfText(number), place);
    }
  }
  for (const number of texts) {
    places.set(tagOfText(number), peek.length); // the index after those of the peeked fields: checked, not kept
  }
  const memos = peek.map(() => new TextMemo());
  let known: readonly (string | null | undefined)[] | null = null;
  let resolved: unknown;
  const seen = [...absent];
  return (b, p, e) => {
    for (let i = 0; i < absent.length; i++) {
      seen[i] = absent[i];
    }
    let position = p;
    while (position < e) {
      const tag = readTag(at, b, position, e);
      position = at.p;
      const place = places.get(tag);
      if (place === undefined) {
        position = skipField(at, b, position, e, tag);
      } else {
        const end = readEnd(at, b, position, e);
        if (place < memos.length) {
          seen[place] = memos[place]?.read(b, at.p, end);
        } else {
          checkText(b, at.p, end);
        }
        position = end;
      }
    }
    if (known === null || !known.every((text, i) => text === seen[i])) {
      known = [...seen];
      resolved = resolve(known);
    }
    return resolved;
  };
}

function tagOfText(number: number): number {
  return ((number << 3) | wire.length) >>> 0;
}
