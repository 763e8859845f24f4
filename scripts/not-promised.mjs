/** The list at the end of GUARANTEES.md: what a reader might take for promised, and is not. */
export const notPromised = [
  "Exactly once for sinks that do not keep the offset in the transaction of their rows.",
  "Order across keys, tables or partitions; order of a row whose primary key changes, or whose key gets other bytes (another converter, another schema id); order of records without a key in the dead-letter topic.",
  "That a parked key stays parked across a restart or a rebalance: its later records are handled again from then on, and a redrive brings the earlier ones after them.",
  "Atomicity across sinks.",
  "More than Kafka's own transactions promise (KAFKA-17754).",
  "That what is under way when a member loses its partitions has no effect: a handler that was called goes on, and synchronous handlers with up to 15 more records of the same turn. Commits and writes to fenced sinks are refused; nothing else is handed on. A member that is taken out of the group before its session is over, as by an administrator, goes on until the next answer to a heartbeat or a commit.",
  "That a dead letter is written once: if its acknowledgement is lost, or comes while its partition goes, it is written again.",
  "That a recreated topic is noticed on brokers without topic ids (before Kafka 2.8) if the group's commit went with it, or if it has grown past the position while no fetch failed.",
  "Records that were deleted before the group first committed a position in their partition.",
  'With `from: "latest"`, what was written to a new topic or partition before the start of the member that is first given it. A member that was running when it was added reads all of it.',
  "A record with several events whose reader leaves the stream in the middle of it: it comes again as a whole.",
  "That the partitions of a stream do not hold each other up: its loop is one for all, and waits while the next record waits for its schema or its dead letter, or its partition for `done()`.",
];
