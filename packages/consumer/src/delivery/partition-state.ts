/** What may still happen to the records of one partition during one assignment. */
export type PartitionState =
  /** Records are read, and handed on. */
  | "open"
  /** Nothing more is read. What comes before a record that is handled or in hand already is still handled, so that it does not come twice. */
  | "finishing"
  /** Nothing starts. What is under way ends. */
  | "fenced";

export type PartitionEvent =
  /** The partition is revoked or moved by `seek()`, or the consumer stops. */
  | "finish"
  /** Nothing is left that must still be handled. */
  | "finished"
  /** The partition is lost, something failed, the deadline of the drain has come, or a sink says that another member has claimed it. */
  | "fence";

const transitions = {
  open: { finish: "finishing", finished: "open", fence: "fenced" },
  finishing: { finish: "finishing", finished: "fenced", fence: "fenced" },
  fenced: { finish: "fenced", finished: "fenced", fence: "fenced" },
} as const satisfies Record<PartitionState, Record<PartitionEvent, PartitionState>>;

/** The state after the event. It never goes back: after `seek()` the partition goes on as a new assignment. */
export function partitionStateAfter(state: PartitionState, event: PartitionEvent): PartitionState {
  return transitions[state][event];
}
