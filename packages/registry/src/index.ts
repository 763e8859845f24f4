// Schemas over HTTP.
export { createRegistry } from "./registry.ts";
export type { Registry, RegistryStats } from "./registry.ts";
export type { RegistryBreakerOptions, RegistryOptions, RegistryRetryOptions, SchemaCacheOptions } from "./options.ts";
export type { RegistryAuth, RegistryLogin } from "./endpoint.ts";
export type { RegistryPing } from "./ping.ts";
export type { RegistryDialect } from "./dialect.ts";
export type { SubjectVersion } from "./registry-api.ts";
export type { ReferenceLink, ReferencePlace, UnresolvedSchema } from "./schema-answer.ts";

// Schemas from a file, and through clients that the user already has.
export { fromBundle, fromBundleText } from "./bundle.ts";
export { fromKafkaJsRegistry } from "./from-kafkajs.ts";
export type { KafkaJsRegistry } from "./from-kafkajs.ts";
export { fromConfluentClient } from "./from-confluent.ts";
export type { ConfluentClient, ConfluentClientOptions, ConfluentSchemaInfo } from "./from-confluent.ts";
export type { AdapterOptions } from "./options.ts";

// Errors.
export { isRegistryError, RegistryError } from "./errors.ts";
export type { RegistryErrorOptions } from "./errors.ts";

// For tests with a clock of their own.
export type { RegistryClock } from "./clock.ts";
