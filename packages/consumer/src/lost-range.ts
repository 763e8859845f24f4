import type { LostRange } from "./driver.ts";

/** The loss in words. */
export function lossText({ topic, partition, firstMissing, firstAvailable }: LostRange, position: bigint): string {
  const gone = `${topic}[${partition}]: the records from ${firstMissing} to ${firstAvailable - 1n} were gone before they were read`;
  const passed = position > firstAvailable ? `, those from ${firstAvailable} to ${position - 1n} were passed over` : "";
  return `${gone}${passed}, and it went on at ${position}`;
}
