import type { OffsetCommit, OutgoingRecord, PartitionAssignment } from "../driver.ts";
import type { Sink } from "../sink.ts";
import { ConsumerError } from "../errors.ts";
import { isPartition, maxPartition } from "../partition-number.ts";
import { readMember, readText } from "./user-value.ts";
import type { Logger } from "../observe/logger.ts";

export interface GuardedSinkParts {
  readonly logger: Logger;
  /** Halts the consumer. */
  readonly fail: (error: Error) => void;
}

/** A sink of the user's. Its methods return promises of the language's own, and its claim gives offsets. */
export function guardedSink(sink: Sink, { logger, fail }: GuardedSinkParts): Sink {
  const { name } = sink;
  const host = readText(sink, "host");
  const { schemaSeen } = sink;
  return {
    name,
    ...(host === undefined ? {} : { host }),
    ...(readMember(sink, "readsLeftOut") === true ? { readsLeftOut: true } : {}),
    claim: async (groupId, assignments) => checkpointsOf(name, await sink.claim(groupId, assignments), assignments),
    apply: async (batch) => sink.apply(batch),
    // This is called during decoding. Without this, a failure of the sink would count as the record's.
    ...(schemaSeen === undefined
      ? {}
      : {
          schemaSeen: (seen) => {
            try {
              schemaSeen.call(sink, seen);
            } catch (cause) {
              fail(
                new ConsumerError(
                  "sink-failed",
                  `the sink ${JSON.stringify(name)} failed at a schema of ${seen.topic}; the cause says why`,
                  {
                    cause,
                  },
                ),
              );
            }
          },
        }),
    close: async () => {
      try {
        await sink.close();
      } catch (error) {
        // Everything that it has applied stays applied, and how run() ends is decided by then.
        logger.warn({ err: error, sink: name }, "a sink could not be closed");
      }
    },
  };
}

/**
 * A checkpoint is looked up by its assignment: one with a copy of it would be left out, and its rows applied again. Of two for one assignment, nothing
 * says which one the rows are at.
 */
function checkpointsOf(name: string, given: unknown, asked: readonly PartitionAssignment[]): readonly OffsetCommit[] {
  const known = new Set(asked);
  const isCheckpoint = (one: Partial<OffsetCommit> | null | undefined): boolean =>
    typeof one?.offset === "bigint" && one.offset >= 0n && one.assignment !== undefined && known.has(one.assignment);
  const isOnce = (checkpoints: readonly OffsetCommit[]): boolean =>
    new Set(checkpoints.map(({ assignment }) => assignment)).size === checkpoints.length;
  if (!Array.isArray(given) || !given.every(isCheckpoint) || !isOnce(given as readonly OffsetCommit[])) {
    throw new TypeError(
      `expected claim() of the sink ${JSON.stringify(name)} to give an array of { assignment, offset: bigint }, each with an offset from 0 on, and with an assignment of its own that it was given (the object itself, not a copy)`,
    );
  }
  return given as readonly OffsetCommit[]; // looked at above
}

/** What a function of `pipe` gave, as records. If it gave something else, this throws before any of them is written. */
export function outgoingRecords(given: unknown): readonly OutgoingRecord[] {
  if (!Array.isArray(given)) {
    throw new TypeError(`expected an array of records from the function of pipe(), found ${given === null ? "null" : typeof given}`);
  }
  for (const [i, record] of (given as Partial<OutgoingRecord>[]).entries()) {
    const problem = problemOf(record);
    if (problem !== null) {
      throw new TypeError(
        `expected records { topic, key, value, headers } from the function of pipe(), found that ${problem} of record ${i}`,
      );
    }
  }
  return given as readonly OutgoingRecord[]; // looked at above
}

function problemOf(record: Partial<OutgoingRecord> | null | undefined): string | null {
  if (typeof record?.topic !== "string" || record.topic === "") {
    return "there is no topic";
  }
  if (!isBytes(record.key) || !isBytes(record.value)) {
    return "the key or the value is neither bytes nor null";
  }
  const { partition, timestamp } = record;
  if (partition !== undefined && !isPartition(partition)) {
    return `the partition is no number from 0 to ${maxPartition}`;
  }
  if (timestamp !== undefined && !(typeof timestamp === "bigint" && BigInt.asIntN(64, timestamp) === timestamp)) {
    return "the timestamp is no bigint of milliseconds";
  }
  const isHeader = (header: unknown): boolean => Array.isArray(header) && typeof header[0] === "string" && isBytes(header[1]);
  return Array.isArray(record.headers) && record.headers.every(isHeader) ? null : "the headers are no array of [name, bytes or null]";
}

function isBytes(value: unknown): boolean {
  return value === null || value instanceof Uint8Array;
}
