import { heldBackNote } from "../../load/held-back.ts";
import type { FeedWorld } from "../../load/record-feed.ts";
import type { Terminal } from "../../terminal.ts";

/** What a feed needs of a command that reads records. `note` gets a sentence for each topic that an open transaction ends early, for each wait, and for groups that stay. */
export function feedWorldOf({ interrupt, logger }: Terminal, note: (text: string) => void): FeedWorld {
  return {
    interrupt,
    ...(logger && { logger }),
    onHeldBack: (heldBack) => note(heldBackNote(heldBack)),
    onGroupsLeft: note,
    onWait: (waitsFor) => note(waitsFor === null ? "the driver goes on" : `the driver waits: ${waitsFor}`),
  };
}
