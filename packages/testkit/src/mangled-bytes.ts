import { mulberry32 } from "./mulberry32.ts";

/** Whole numbers below the one that is asked for, the same for the same seed. */
export function seededRandom(seed: number): (below: number) => number {
  const random = mulberry32(seed);
  return (below) => Math.floor(random() * below);
}

/** The bytes with a few of them changed, doubled or taken out: what a broken producer, or an attacker, makes of a message. */
export function mangled(bytes: Uint8Array, random: (below: number) => number): Buffer {
  const changed = Buffer.from(bytes);
  if (changed.length === 0) {
    return Buffer.from([random(256)]);
  }
  for (let times = 1 + random(3); times > 0; times--) {
    changed[random(changed.length)] = interesting[random(interesting.length)] ?? random(256);
  }
  const at = random(changed.length);
  const pieces = [changed, changed.subarray(0, at), Buffer.concat([changed.subarray(0, at), changed]), changed.subarray(at)];
  return Buffer.from(pieces[random(8)] ?? changed);
}

/** Bytes that mean something to readers: signs, quotes, brackets, the greatest and least of their kind; undefined: any. */
const interesting: readonly (number | undefined)[] = [0x00, 0x01, 0x02, 0x7f, 0x80, 0xff, 0x22, 0x5b, 0x7b, 0x7d, undefined, undefined];
