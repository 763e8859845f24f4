import { describe, expect, test } from "vitest";
import type { RegistryAuth } from "./endpoint.ts";
import { type ConfluentClient, type ConfluentClientOptions, fromConfluentClient } from "./from-confluent.ts";
import { fromKafkaJsRegistry, type KafkaJsRegistry } from "./from-kafkajs.ts";
import { createRegistry } from "./index.ts";
import { optionNames } from "./option-names.ts";
import type { AdapterOptions, RegistryBreakerOptions, RegistryOptions, RegistryRetryOptions, SchemaCacheOptions } from "./options.ts";

type Names<Options> = Readonly<Record<keyof Options, true>>;
type KeysOfUnion<Union> = Union extends unknown ? keyof Union : never;

// A new option does not compile before its name is known.
optionNames satisfies {
  readonly registry: Names<RegistryOptions>;
  readonly adapter: Names<AdapterOptions>;
  readonly confluentClient: Names<ConfluentClientOptions>;
  readonly auth: Readonly<Record<KeysOfUnion<RegistryAuth>, true>>;
  readonly cache: Names<SchemaCacheOptions>;
  readonly retry: Names<RegistryRetryOptions>;
  readonly breaker: Names<RegistryBreakerOptions>;
};

const url = "http://registry.test";

describe("a name that is no option of a registry", () => {
  test.each<[object, RegExp]>([
    [{ url, timeout: 5 }, /^timeout is no option; the options are url, urls, dialect/],
    [{ url, cache: { max: 5 } }, /^cache\.max is no option; the options are maxSchemas, maxBytes, notFoundTtlMs$/],
    [{ url, retry: { retries: 5 } }, /^retry\.retries is no option; the options are attempts, /],
    [{ url, breaker: { failure: 5 } }, /^breaker\.failure is no option/],
    [{ url, auth: { token: "secret-token" } }, /^auth\.token is no option; the options are basic, bearer$/],
    [
      { url, clock: { monotonicMs: () => 0, wallMs: () => 0, after: () => () => {} } },
      /^clock\.nowMs must be a function \(it was called monotonicMs/,
    ],
  ])("is refused with its place and the names that there are: %j", (options, message) => {
    expect(() => createRegistry(options as RegistryOptions)).toThrow(message);
  });

  test("is refused by the adapters, too", () => {
    const confluent = { getBySubjectAndId: () => {}, getSchemaMetadata: () => {} } as unknown as ConfluentClient;
    expect(() => fromConfluentClient(confluent, { subjects: "" } as ConfluentClientOptions)).toThrow(
      /^subjects is no option; .*, subject$/,
    );
    const kafkaJs = { api: { Schema: { find: () => {} }, Subject: { version: () => {} } } } as unknown as KafkaJsRegistry;
    expect(() => fromKafkaJsRegistry(kafkaJs, { retry: {} } as AdapterOptions)).toThrow(/^retry is no option; the options are cache, /);
  });

  test("is accepted if it has no value", () => {
    expect(() => createRegistry({ url, timeout: undefined } as RegistryOptions)).not.toThrow();
  });
});
