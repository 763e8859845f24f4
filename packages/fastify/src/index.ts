export { fastifyCdc } from "./plugin.ts";
export type { FastifyCdcOptions, MetricsRegistry } from "./options.ts";
export { FastifyCdcError, isFastifyCdcError } from "./errors.ts";
export type { FastifyCdcErrorCode } from "./errors.ts";
