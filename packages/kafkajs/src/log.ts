import type { Logger } from "@cdckit/consumer";
import { RepeatedLines } from "@cdckit/driver";
import type { logCreator, LogEntry } from "kafkajs";
import { driverClosed } from "./errors.ts";
import { readableBroker } from "./ipv6-names.ts";
import { leaderMoved } from "./partitions.ts";

/** kafkajs' log levels. Its own enum cannot be used here, because kafkajs is loaded later. */
const levels = { error: 1, warn: 2 } as const;

/**
 * Lines that kafkajs logs as errors although they are part of normal work: every rebalance, the driver's own producers, whose retries are
 * bounded and which are replaced after a failure, a transaction that waits for the end of the one before it, the partitions of a leader that has
 * moved, and the end of the driver.
 */
const expected = [
  /^Limiting retries for the idempotent producer may invalidate EoS guarantees/,
  /The group is rebalancing/,
  /The coordinator is not aware of this member/,
  /Specified group generation id is not valid/,
  /another concurrent operation on the same transaction was ongoing/,
  new RegExp(leaderMoved),
  new RegExp(driverClosed),
  /Failed to connect: brokers array is empty/, // the list after the end (`Sockets`); of a user's function, the error itself says so
];

/** Part of a line that is not true: the driver does not let kafkajs reset anything. */
const untrue = /^(Offset out of range), resetting to default offset/;

/**
 * Writes kafkajs' log to the consumer's logger. kafkajs logs every retry as an error. Here retries are warnings, because the consumer reports
 * the errors that halt it. A line that repeats is logged with growing gaps, and says how many lines were left out.
 */
export function toLogger(logger: Logger, nowMs?: () => number): logCreator {
  const repeated = new RepeatedLines(nowMs);
  return () => (entry) => {
    const fields = fieldsOf(entry);
    const line = `kafkajs: ${textOf(entry).replace(untrue, "$1")}`;
    const isTrouble = entry.level === levels.error || entry.level === levels.warn;
    const leftOut = isTrouble && !isExpected(entry) ? repeated.leftOutBefore([line, fields["broker"], fields["error"]].join()) : null;
    if (leftOut === null) {
      logger.debug(fields, line);
    } else {
      logger.warn(leftOut === 0 ? fields : { ...fields, leftOut }, line);
    }
  };
}

function isExpected({ log }: LogEntry): boolean {
  const text = `${textOf({ log })} ${String(log["error"] ?? "")}`;
  return expected.some((pattern) => pattern.test(text));
}

/** kafkajs' types say that a message is a text. It logs an error itself where a broker refuses the login of a connection that is replaced. */
function textOf({ log }: Pick<LogEntry, "log">): string {
  const message: unknown = log.message;
  return message instanceof Error ? message.message : String(message);
}

function fieldsOf({ namespace, log }: LogEntry): Readonly<Record<string, unknown>> {
  const { message: _message, timestamp: _timestamp, logger: _logger, stack: _stack, ...fields } = log;
  const { broker } = fields as { readonly broker?: unknown };
  return { ...fields, ...(typeof broker === "string" ? { broker: readableBroker(broker) } : {}), namespace };
}
