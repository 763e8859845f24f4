export { postgres } from "./postgres.ts";
export type { PostgresSink } from "./postgres.ts";
export type { PostgresClient, PostgresOptions, PostgresPool, TableTarget } from "./options.ts";
export { isPostgresSinkError, PostgresRefusal, PostgresSinkError } from "./errors.ts";
export type { PostgresSinkErrorCode } from "./errors.ts";
