import { BenchError } from "../bench-error.ts";
import type { DriverWait } from "../measure/driver-waits.ts";
import type { ReadingEnd } from "../measure/fetch-meter.ts";
import type { TopicExtent } from "./cluster.ts";
import { driverWaitText } from "./driver-wait-text.ts";

/** The end of a reading of all that a topic has now. */
export function readingEndOf({ partitions }: Pick<TopicExtent, "partitions">): Required<Pick<ReadingEnd, "startOffsets" | "endOffsets">> {
  const filled = partitions.filter(({ startOffset, endOffset }) => endOffset > startOffset);
  return {
    startOffsets: new Map(filled.map(({ partition, startOffset }) => [partition, startOffset])),
    endOffsets: new Map(filled.map(({ partition, endOffset }) => [partition, endOffset])),
  };
}

/** What a reading says of its end. */
export interface ReadPart {
  /** Offsets in front of the end that nothing came of. */
  readonly unread: number;
  /** What the driver waited for then. Null or absent if that is not known. */
  readonly waitsFor?: DriverWait | null;
}

/** Refuses a reading that ran dry in front of records: its figures are of a part, and look like those of the whole. */
export function requireWhole(topics: readonly string[], { unread, waitsFor = null }: ReadPart): void {
  if (unread > 0) {
    const why =
      waitsFor === null
        ? "Brokers may be slow or gone, a transaction may be open, or records were deleted since the run began: try again."
        : `The driver waits: ${driverWaitText(waitsFor)}.`;
    const dry = `${topics.join(", ")} gave nothing for 10 s, ${unread.toLocaleString("en-US")} offsets in front of the end.`;
    throw new BenchError("too-few-messages", `${dry} ${why}`);
  }
}
