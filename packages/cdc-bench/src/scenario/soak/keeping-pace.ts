import { formatCount } from "../../report/quantities.ts";
import type { SoakFormat } from "./soak-result.ts";

/** What is on its way from the writer to the handler at any moment is no backlog: so much of what is written in a second. */
const onItsWay = 0.25;
/** So small a share of what was written says nothing. */
const negligible = 0.01;

/** Whether a consumer has handled what was written before, but for what is on its way: what it handles from now on is written from now on. */
export function hasCaughtUp(written: number, handled: number, perSecond: number): boolean {
  return written > 0 && written - handled <= Math.max(1, perSecond * onItsWay);
}

/** What the counts of a format at a set rate say of its figures. Null: its consumer has handled what was written. */
export function paceNote({ title, written, events }: Pick<SoakFormat, "title" | "written" | "events">, perSecond: number): string | null {
  if (written === null || (events < written * (1 + negligible) + perSecond * onItsWay && events >= written * (1 - negligible))) {
    return null;
  }
  const counts = `${title}: ${formatCount(written)} events were written and ${formatCount(events)} handled`;
  return events < written
    ? `${counts}: the consumer does not keep pace.`
    : `${counts}: it was behind when the measurement began, and its rate and latencies are those of catching up.`;
}
