import type { Comparison, ComparedReader } from "./comparison.ts";

const shortMs = 1_000;
const fewRounds = 5;
const noisyVariation = 0.05;
const highGcShare = 0.1;
/** Below this the client waits for brokers or the network most of the time. */
const waitingUtilization = 0.6;
const saturatedUtilization = 0.97;

/** A rate over less than a second says more about the start of a reading than about its rate. */
export function isShort({ elapsedMs }: Pick<ComparedReader, "elapsedMs">): boolean {
  return elapsedMs < shortMs;
}

/** A note names so many, and says how many more there are. */
const maxNamed = 2;

/** What to know before these figures are quoted. */
export function warningsOf({ readers, pairs }: Comparison, rounds: number, isInMemory: boolean): readonly string[] {
  const topics = new Set(readers.map(({ topic }) => topic));
  const named = (found: readonly ComparedReader[]): string => {
    const names = found.map(({ topic, reader }) => (topics.size === 1 ? reader : `${reader} on ${topic}`));
    return names.length > maxNamed ? `${names.slice(0, maxNamed).join("; ")}; and ${names.length - maxNamed} more` : names.join("; ");
  };
  const warn = (found: readonly ComparedReader[], sentence: (names: string) => string): readonly string[] =>
    found.length === 0 ? [] : [sentence(named(found))];
  const onBrokers = isInMemory ? [] : readers;
  return [
    ...warn(
      onBrokers.filter(isShort),
      (names) => `Read in less than a second, so the rate is uncertain (marked): ${names}. Compare more records.`,
    ),
    ...(rounds < fewRounds
      ? [`${rounds === 1 ? "One round has" : `${rounds} rounds have`} wide intervals or none: --rounds ${fewRounds} or more.`]
      : []),
    ...warn(
      readers.filter(({ variation }) => variation > noisyVariation),
      (names) => `Noisy, the rounds vary by more than ${noisyVariation * 100}%: ${names}. Something else may use this machine.`,
    ),
    ...warn(
      readers.filter(({ gcShare }) => gcShare > highGcShare),
      (names) => `More than ${highGcShare * 100}% of the time went to garbage collection: ${names}.`,
    ),
    ...warn(
      onBrokers.filter(({ eventLoopUtilization }) => eventLoopUtilization < waitingUtilization),
      (names) => `Waited for the brokers most of the time, so the rate is theirs rather than the reader's: ${names}.`,
    ),
    ...warn(
      onBrokers.filter(({ eventLoopUtilization }) => eventLoopUtilization > saturatedUtilization),
      (names) => `The event loop was saturated, so this process is what limits the rate: ${names}.`,
    ),
    ...warn(
      readers.filter(({ errorRecords }) => errorRecords > 0),
      (names) => `Could not decode every record, so its rate is no comparison: ${names}.`,
    ),
    ...(pairs.some((pair) => pair.isUndecided) && rounds > 1
      ? ["Where an interval contains 1, nobody was faster: more rounds, more records or a quieter machine may tell."]
      : []),
  ];
}
