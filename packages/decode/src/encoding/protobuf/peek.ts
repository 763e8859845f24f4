import { checkText, TextMemo } from "../text-cache.ts";
import { type Cursor, readEnd, readTag, skipField, wire } from "./cursor.ts";
import type { DeferInstruction } from "./read-instructions.ts";

/**
 * Looks into a message for a few of its texts and gives what they resolve to, the same while they are the same. Its other texts must be
 * UTF-8: it is read late.
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
    places.set(tagOfText(number), peek.length); // behind all that are kept
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
          seen[place] = memos[place]?.read(at.texts, b, at.p, end);
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
