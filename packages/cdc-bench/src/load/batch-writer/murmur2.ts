const seed = 0x9747b28c;
const multiplier = 0x5bd1e995;

/** The partition that Kafka's Java producer chooses for a key, and with it Kafka Connect. */
export function partitionOf(key: Buffer, partitions: number): number {
  return partitionOfHash(murmur2(key), partitions);
}

/** The partition for a key with this {@link murmur2}. */
export function partitionOfHash(hash: number, partitions: number): number {
  return (hash & 0x7fffffff) % partitions;
}

/** As in Kafka's `Utils.murmur2`. */
export function murmur2(bytes: Buffer): number {
  let hash = seed ^ bytes.length;
  let at = 0;
  for (; at + 4 <= bytes.length; at += 4) {
    let part = Math.imul(bytes.readInt32LE(at), multiplier);
    part = Math.imul(part ^ (part >>> 24), multiplier);
    hash = Math.imul(hash, multiplier) ^ part;
  }
  const rest = bytes.length - at;
  if (rest > 0) {
    for (let i = rest - 1; i >= 0; i--) {
      hash ^= bytes[at + i]! << (8 * i);
    }
    hash = Math.imul(hash, multiplier);
  }
  hash = Math.imul(hash ^ (hash >>> 13), multiplier);
  return hash ^ (hash >>> 15);
}
