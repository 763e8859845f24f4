/** A stream of numbers that is the same for the same seed (mulberry32). */
export function seededRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
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
