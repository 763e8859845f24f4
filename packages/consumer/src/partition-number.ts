/** The highest number of a partition: Kafka keeps it in 32 bits with a sign. */
export const maxPartition: number = 2 ** 31 - 1;

/** A higher number would fail in the client, as an error of its own, or name another partition. */
export function isPartition(given: unknown): given is number {
  return Number.isInteger(given) && (given as number) >= 0 && (given as number) <= maxPartition;
}
