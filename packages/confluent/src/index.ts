export { confluent } from "./confluent.ts";
export type { ConfluentConnection, ConfluentLogin, ConfluentOptions, ConfluentTls, ConfluentTuning } from "./options.ts";
export { ConfluentDriverError, isConfluentDriverError } from "./errors.ts";
export type { ConfluentDriverErrorCode, ConfluentDriverErrorOptions } from "./errors.ts";
