/** CRC-32C (Castagnoli), which Kafka puts on each batch. Eight bytes at a time: `node:zlib` has only the other CRC-32. */
const tables = makeTables();

export function crc32c(bytes: Buffer, start: number, end: number): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = tables;
  let crc = ~0;
  let at = start;
  for (const lastFull = end - 7; at < lastFull; at += 8) {
    const low = crc ^ (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
    crc =
      t7[low & 0xff]! ^
      t6[(low >>> 8) & 0xff]! ^
      t5[(low >>> 16) & 0xff]! ^
      t4[low >>> 24]! ^
      t3[bytes[at + 4]!]! ^
      t2[bytes[at + 5]!]! ^
      t1[bytes[at + 6]!]! ^
      t0[bytes[at + 7]!]!;
  }
  for (; at < end; at++) {
    crc = t0[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}

type Tables = readonly [Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array];

function makeTables(): Tables {
  const first = Int32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) {
      crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    }
    return crc;
  });
  const all = [first];
  for (let i = 1; i < 8; i++) {
    const before = all[i - 1]!;
    all.push(before.map((crc) => first[crc & 0xff]! ^ (crc >>> 8)));
  }
  return all as unknown as Tables;
}
