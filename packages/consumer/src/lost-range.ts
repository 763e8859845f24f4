import type { LostRange } from "./driver.ts";

/** The loss in words. */
export function lossText(lost: LostRange, position: bigint): string {
  const { topic, partition, firstMissing, firstAvailable, recreated } = lost;
  if (recreated !== undefined) {
    const skipped = position > firstAvailable ? `, the records from ${firstAvailable} to ${position - 1n} were skipped` : "";
    return `${topic}[${partition}]: the topic was deleted and created again, the records of the old one from ${firstMissing} on are gone${skipped}, and the new one is read from ${position}`;
  }
  const gone = `${topic}[${partition}]: the records from ${firstMissing} to ${firstAvailable - 1n} were deleted before they were read`;
  const passed = position > firstAvailable ? `, those from ${firstAvailable} to ${position - 1n} were skipped` : "";
  return `${gone}${passed}, and the partition goes on at ${position}`;
}

/** How many offsets of the log were skipped. Of a recreated topic, nobody can say how many are gone. */
export function lostOffsetCount({ firstMissing, firstAvailable, recreated }: LostRange, position: bigint): number {
  return Number(position - (recreated === undefined ? firstMissing : firstAvailable));
}
