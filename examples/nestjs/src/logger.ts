import type { LoggerService } from "@nestjs/common";
import pino from "pino";

export const logger = pino();

/** What Nest itself says, as lines of pino. The last parameter is where it comes from, the one before it a stack. */
export const nestLogger: LoggerService = {
  log: (message: unknown, context?: unknown) => logger.debug({ context }, String(message)),
  warn: (message: unknown, context?: unknown) => logger.warn({ context }, String(message)),
  error: (message: unknown, stack?: unknown) => logger.error({ stack }, String(message)),
};
