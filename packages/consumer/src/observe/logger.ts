/** The four methods of pino (and of most loggers) that are called here. Fields first, then the sentence. */
export interface Logger {
  /** What only those need who look for a fault. */
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  /** What happens in the life of a consumer: it starts, gets partitions, stops. */
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  /** What may need somebody: a wait, a retry, a rebalance that takes long. */
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  /** What somebody must see: the consumer halts, or records were set aside or skipped. */
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

const ignore = (): void => {};

/** Logs nothing. */
export const silentLogger: Logger = Object.freeze({ debug: ignore, info: ignore, warn: ignore, error: ignore });
