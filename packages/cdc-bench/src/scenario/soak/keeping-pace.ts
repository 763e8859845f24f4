import { formatCount } from "../../report/quantities.ts";
import type { SoakFormat } from "./soak-result.ts";

/** What is between the writer and the handler at any moment is no backlog: what is written in so many seconds. */
const inFlightSeconds = 0.25;
/** So small a share of what was written says nothing. */
const negligible = 0.01;

/** Whether a consumer has handled what was written before, but for what is in flight: what it handles from now on is written from now on. */
export function hasCaughtUp(written: number, handled: number, perSecond: number): boolean {
  return written > 0 && written - handled <= Math.max(1, perSecond * inFlightSeconds);
}

/** What the counts of a format at a set rate say of its figures. Null: its consumer has handled what was written. */
export function paceNote({ title, written, events }: Pick<SoakFormat, "title" | "written" | "events">, perSecond: number): string | null {
  if (written === null || (events < written * (1 + negligible) + perSecond * inFlightSeconds && events >= written * (1 - negligible))) {
    return null;
  }
  const counts = `${title}: ${formatCount(written)} events were written and ${formatCount(events)} handled`;
  return events < written
    ? `${counts}: the consumer does not keep pace.`
    : `${counts}: it was behind when the measurement began, and its rate and latencies are those of catching up.`;
}
