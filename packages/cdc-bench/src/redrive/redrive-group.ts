import { createHash } from "node:crypto";
import { everything, type RedriveFilter } from "./redrive-filter.ts";

/** One progress for each selection, in whatever order it is written: what another filter left is not taken for done. */
export function groupOf(topic: string, to: string | null, filter: RedriveFilter): string {
  const inOrder = { ...filter, topics: [...new Set(filter.topics)].sort(), codes: [...new Set(filter.codes)].sort() };
  const isEntireTopic = to === null && JSON.stringify(filter) === JSON.stringify(everything);
  const selection = createHash("sha256")
    .update(JSON.stringify([to, inOrder]))
    .digest("hex")
    .slice(0, 8);
  return `cdc-bench-redrive-${topic}${isEntireTopic ? "" : `-${selection}`}`;
}
