/**
 * How this program measures, a sentence each. A result says which of them hold for it, and every report prints them: a rule that is not
 * in a result was not kept there.
 */
export const measurementRules = {
  stagesApart:
    "Joining the group, waiting for fetches, decompressing, waiting for schemas, decoding, validating, handling and committing are timed apart.",
  decodeSampled:
    "Decoding is timed at one record in 16, chosen by chance, with operation, table, key and both rows read, less what the clock costs; the first record of a format, for which its reader is compiled, is no part of the percentiles.",
  drainHasNoLatency: "A backlog has a rate and no latency: the age of its records says nothing, so it is not shown.",
  tailLatency:
    "Latency is of a live stream: from the record's timestamp, and from the commit in the source, until the event was handled; negative ages are counted as clock skew.",
  intendedTimes:
    "Each record has the time at which it was due, decided before the run (no coordinated omission): lateness and acknowledgement are counted from there, also if the producer falls behind.",
  sizes: "Size is key and value without headers, before compression; wire bytes are batches as they were sent. MB is 10^6 bytes, not 2^20.",
  sameRows: "Each topic has the same rows in the same order and in the same partitions.",
  sameFetches: "Each client fetches with the same limits, which are in the settings.",
  rotation:
    "In each round everything is measured once, and who goes first changes from round to round; the first round warms up and is not counted.",
  ratioInterval:
    "A ratio is the geometric mean of the ratios of the rounds, and ± is half of its 95% interval (Student's t over the logarithms): if the interval contains 1, the order is not known.",
  joinNotCounted:
    "A rate is records by the time from the first batch to the last record handled: joining the group, looking up positions and the first fetch are no part of it.",
  rateFromAssignment:
    "A rate is records by the time from the first assignment to the last record handled: joining the group is no part of it.",
  processesTogether:
    "The processes join one group and wait until each has its partitions; then all begin. The rate is all records by the time from the first to the last event over all processes. Each commits what it handled, and reads every column. Shares of processors are of the time in which records came.",
  oneByOne: "Topics are read one after the other, so that each has the machine to itself, up to where they ended when the run began.",
  ownGroup: "Each reading has a group of its own, which is removed afterwards if the login may delete groups.",
  memoryOnly: "No broker, no network and no disk is in these times: records are in memory.",
} as const;

export type MeasurementRule = keyof typeof measurementRules;

/** The sentences of the rules that hold. */
export function rulesFor(...names: readonly MeasurementRule[]): readonly string[] {
  return names.map((name) => measurementRules[name]);
}
