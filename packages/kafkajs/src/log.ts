import type { Logger } from "@cdckit/consumer";
import type { logCreator, LogEntry } from "kafkajs";

/** kafkajs' log levels; its enum exists only at run time, and kafkajs is loaded late. */
const levels = { error: 1, warn: 2 } as const;

/** Retries of the driver's producers are bounded, and a producer that has failed is given up, so that nothing is taken for a repetition. */
const expectedWarning = "Limiting retries for the idempotent producer may invalidate EoS guarantees";

/**
 * kafkajs' log in the consumer's logger. It logs every retry as an error: here those are warnings, because what the consumer halts on is
 * reported by the consumer.
 */
export function toLogger(logger: Logger): logCreator {
  return () => (entry) => {
    const fields = fieldsOf(entry);
    if (entry.log.message === expectedWarning) {
      return;
    }
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
