/**
 * What a dead letter looks like: the record's own bytes and headers, and after these headers what happened to it. The headers have the
 * names that Kafka Connect writes (KIP-298), so that tools for its dead letters read ours. All values are UTF-8 text, numbers as well.
 *
 * The letter's timestamp is the time at which it is written. Kafka's retention goes by timestamps: if the letter had the record's own, and
 * the record were older than the retention of the dead-letter topic, the letter would be deleted soon after it was acknowledged. The
 * record's timestamp is in a header, and a redrive writes it back.
 */
import { isDecodeError, type RecordHeaders } from "@cdckit/decode";
import type { OutgoingRecord } from "../driver.ts";
import { codeOf, isError, nameOf, readMember } from "../user-code/user-value.ts";
import { deadLetterErrorOf, type Failure } from "./failure.ts";
import { coordinatesOf, type RecordPlace } from "./record-place.ts";

export interface DeadLetterContext {
  readonly topic: string;
  readonly groupId: string;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

/** Why a record is set aside: it failed, or an earlier record of its key did. */
export type SetAsideReason =
  | { readonly kind: "failed"; readonly failure: Failure; readonly attempts: number }
  | { readonly kind: "parked"; readonly behind: bigint };

/** Every header that a dead letter gets, after those that the record has. */
export const connectHeader: Readonly<
  Record<"topic" | "partition" | "offset" | "group" | "task" | "stage" | "component" | "exception" | "message" | "stack", string>
> = Object.freeze({
  topic: "__connect.errors.topic",
  partition: "__connect.errors.partition",
  offset: "__connect.errors.offset",
  group: "__connect.errors.connector.name",
  task: "__connect.errors.task.id",
  stage: "__connect.errors.stage",
  component: "__connect.errors.class.name",
  exception: "__connect.errors.exception.class.name",
  message: "__connect.errors.exception.message",
  stack: "__connect.errors.exception.stacktrace",
});

export const cdckitHeader: Readonly<Record<"attempts" | "group" | "schemaId" | "timestamp" | "recordTimestamp" | "parkedBehind", string>> =
  Object.freeze({
    attempts: "cdckit.attempts",
    group: "cdckit.group",
    schemaId: "cdckit.schema.id",
    timestamp: "cdckit.timestamp",
    recordTimestamp: "cdckit.record.timestamp",
    parkedBehind: "cdckit.parked-behind",
  });

/** The record to write for a record that is set aside. Its key decides its partition, so that dead letters of a key keep their order. */
export function deadLetterRecord(place: RecordPlace, reason: SetAsideReason, context: DeadLetterContext): OutgoingRecord {
  const { batch, record } = place;
  return {
    topic: context.topic,
    key: batch.keyAt(record),
    value: batch.valueAt(record),
    headers: [...batch.headersAt(record), ...headersOf(place, reason, context)],
    timestamp: BigInt(Math.trunc(context.nowMs)),
  };
}

function headersOf(place: RecordPlace, reason: SetAsideReason, { groupId, nowMs }: DeadLetterContext): RecordHeaders {
  const at = coordinatesOf(place);
  const error = reason.kind === "failed" ? describeFailure(reason.failure) : describeParked(reason.behind);
  const texts: [string, string][] = [
    [connectHeader.topic, at.topic],
    [connectHeader.partition, String(at.partition)],
    [connectHeader.offset, String(at.offset)],
    [connectHeader.group, groupId],
    [connectHeader.task, String(at.partition)],
    [connectHeader.stage, error.stage],
    [connectHeader.component, error.component],
    [connectHeader.exception, error.name],
    [connectHeader.message, error.message],
    [connectHeader.stack, error.stack],
    [cdckitHeader.attempts, String(reason.kind === "failed" ? reason.attempts : 0)],
    [cdckitHeader.group, groupId],
    [cdckitHeader.timestamp, String(nowMs)],
    [cdckitHeader.recordTimestamp, String(place.batch.timestampAt(place.record))],
  ];
  const schemaId = schemaIdOf(place, reason);
  if (schemaId !== null) {
    texts.push([cdckitHeader.schemaId, schemaId]);
  }
  if (reason.kind === "parked") {
    texts.push([cdckitHeader.parkedBehind, String(reason.behind)]);
  }
  return texts.map(([name, text]) => [name, Buffer.from(text)]);
}

interface DescribedError {
  readonly stage: string;
  readonly component: string;
  readonly name: string;
  readonly message: string;
  readonly stack: string;
}

/**
 * Only our own sentences, and the names of what was thrown. A handler's message may quote the row (PostgreSQL's messages do), so it is left
 * out. Of a stack only the frames are kept.
 */
function describeFailure(failure: Failure): DescribedError {
  const { stage, error } = failure;
  const own = deadLetterErrorOf(failure);
  const name = nameOf(error);
  const code = codeOf(error);
  const thrown = isDecodeError(error) ? "" : `: ${name}${code === undefined ? "" : ` (code ${code})`}`;
  return {
    stage: stage === "handle" ? "TASK_PUT" : "VALUE_CONVERTER",
    component: stage === "handle" ? "@cdckit/consumer" : "@cdckit/decode",
    name,
    message: `${own.message}${thrown}`,
    stack: isError(error) ? framesOf(readMember(error, "stack")) : "",
  };
}

function describeParked(behind: bigint): DescribedError {
  return {
    stage: "TASK_PUT",
    component: "@cdckit/consumer",
    name: "ParkedKey",
    message: `not attempted: the earlier record at offset ${behind} has the same key and is a dead letter, and the order of the key is kept`,
    stack: "",
  };
}

const maxFrames = 20;

function framesOf(stack: unknown): string {
  const frames = (typeof stack === "string" ? stack : "").split("\n").filter((line) => /^\s+at /.test(line));
  return frames.slice(0, maxFrames).join("\n");
}

/** The id of the value's schema, as it was decoded, or as Confluent's five bytes say. */
function schemaIdOf({ batch, record }: RecordPlace, reason: SetAsideReason): string | null {
  if (reason.kind === "failed" && reason.failure.event !== null) {
    const schemaId = readMember(reason.failure.event, "schemaId");
    return typeof schemaId === "string" || typeof schemaId === "number" || typeof schemaId === "bigint" ? String(schemaId) : null;
  }
  const value = batch.valueAt(record);
  if (value === null || value.length < 5 || value[0] !== 0) {
    return null;
  }
  return String(new DataView(value.buffer, value.byteOffset, value.byteLength).getUint32(1));
}
