import { type GroupPosition, isBeyondEnd, lagOf, lostOf, type PlannedPosition } from "./offset-plan.ts";
import type { GroupMember } from "../load/cluster.ts";
import { type HeldBack, heldBackNote } from "../load/held-back.ts";
import { formatCount } from "../report/quantities.ts";
import { type TableColumn, textTable } from "../report/text-table.ts";
import { printable } from "../report/text-width.ts";

export interface OffsetsReport {
  readonly groupId: string;
  /** Null if they are not known. */
  readonly members: readonly GroupMember[] | null;
  readonly positions: readonly GroupPosition[];
  /** What open transactions hold back in these partitions. */
  readonly heldBack: readonly HeldBack[];
  /** Null if the offsets are only shown. */
  readonly reset: { readonly planned: readonly PlannedPosition[]; readonly executed: boolean } | null;
}

/** The fields of `offsets --json`. */
export function offsetsJson({ groupId, members, positions, heldBack, reset }: OffsetsReport): Readonly<Record<string, unknown>> {
  const rows = (reset?.planned ?? positions).map((position) => ({
    ...position,
    lag: lagOf(position),
    lost: lostOf(position),
    beyondEnd: isBeyondEnd(position),
  }));
  return { schemaVersion: 1, command: "offsets", groupId, members, executed: reset?.executed ?? null, partitions: rows, heldBack };
}

export function offsetsText(report: OffsetsReport): string {
  const { groupId, members, positions, heldBack, reset } = report;
  const parts = [`Group ${groupId}: ${membersText(members)}\n\n`];
  if (reset === null) {
    parts.push(positionsTable(positions), ...positions.flatMap(outOfRangeTexts));
  } else {
    parts.push(plannedTable(reset.planned), "\n", endText(reset));
  }
  parts.push(...heldBack.map((held) => `\n${printable(heldBackNote(held))}\n`));
  return parts.join("");
}

/** Why a consumer does not go on at the commit. */
function outOfRangeTexts(position: GroupPosition): readonly string[] {
  const { topic, partition, committed, startOffset, endOffset } = position;
  const place = printable(`${topic}[${partition}]`);
  if (lostOf(position) > 0n) {
    return [
      `\n${place}: the records from ${committed} to ${startOffset - 1n} are gone, and the group has not handled them:\n` +
        "a consumer halts there, or goes on as its option failure.lostRange says. --reset says where the group goes on.\n",
    ];
  }
  return isBeyondEnd(position)
    ? [
        `\n${place}: the group has committed ${committed}, and the log ends at ${endOffset}. The topic was recreated, or its log was truncated:\n` +
          "a consumer finds its offset out of range. --reset says where the group goes on.\n",
      ]
    : [];
}

function membersText(members: readonly GroupMember[] | null): string {
  if (members === null) {
    return "members not known, because it is no group of the classic protocol";
  }
  if (members.length === 0) {
    return "no members";
  }
  const names = members.map(({ clientId, host }) => `${clientId} at ${host.replace(/^\//, "")}`);
  return printable(`${members.length} ${members.length === 1 ? "member" : "members"} (${names.join(", ")})`);
}

const placeColumns: readonly TableColumn[] = [
  { title: "topic", align: "left" },
  { title: "partition" },
  { title: "log start" },
  { title: "log end" },
  { title: "committed" },
];

function positionsTable(positions: readonly GroupPosition[]): string {
  return textTable(
    [...placeColumns, { title: "lag" }],
    positions.map((position) => [...placeCells(position), countOrDash(lagOf(position))]),
  );
}

function plannedTable(planned: readonly PlannedPosition[]): string {
  return textTable(
    [...placeColumns, { title: "new" }, { title: "what changes", align: "left" }],
    planned.map((position) => [...placeCells(position), String(position.next), changeText(position)]),
  );
}

function placeCells({ topic, partition, startOffset, endOffset, committed }: GroupPosition): readonly string[] {
  return [topic, String(partition), String(startOffset), String(endOffset), countOrDash(committed)];
}

function countOrDash(count: bigint | null): string {
  return count === null ? "-" : String(count);
}

function changeText(position: PlannedPosition): string {
  const { committed, next, endOffset } = position;
  if (committed === null || isBeyondEnd(position)) {
    return `${formatCount(Number(endOffset - next))} to read`;
  }
  // What retention took is neither read again nor skipped: the group would not have got it either.
  const lost = lostOf(position);
  const resumeOffset = committed + lost;
  const changes = [countText(resumeOffset - next, "again"), countText(next - resumeOffset, "skipped"), countText(lost, "gone")].filter(
    (text) => text !== null,
  );
  return changes.length === 0 ? "nothing" : changes.join(", ");
}

function countText(count: bigint, what: string): string | null {
  return count > 0n ? `${formatCount(Number(count))} ${what}` : null;
}

/** What a reset has committed, or would commit. */
export function endText({ planned, executed }: { readonly planned: readonly PlannedPosition[]; readonly executed: boolean }): string {
  const changes = planned.filter(({ committed, next }) => committed !== next).length;
  if (executed) {
    return `Committed ${changes} of ${planned.length} partitions; the others stood there already.\n`;
  }
  return `Dry run: nothing was committed. --execute commits ${changes} of ${planned.length} partitions.\n`;
}
