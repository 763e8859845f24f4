import type { Logger } from "@cdckit/consumer";
import type { logCreator, LogEntry } from "kafkajs";

/** kafkajs' log levels; its enum exists only at run time, and kafkajs is loaded late. */
const levels = { error: 1, warn: 2 } as const;

/**
 * kafkajs' log in the consumer's logger. It logs every retry as an error: here those are warnings, because what the consumer halts on is
 * reported by the consumer.
 */
export function toLogger(logger: Logger): logCreator {
  return () => (entry) => {
    const fields = fieldsOf(entry);
    if (entry.level === levels.error || entry.level === levels.warn) {
      logger.warn(fields, `kafkajs: ${entry.log.message}`);
    } else {
      logger.debug(fields, `kafkajs: ${entry.log.message}`);
    }
  };
}

function fieldsOf({ namespace, log }: LogEntry): Readonly<Record<string, unknown>> {
  const { message: _message, timestamp: _timestamp, logger: _logger, stack: _stack, ...fields } = log;
  return { ...fields, namespace };
}
