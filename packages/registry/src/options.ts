import type { ApicurioIdSpace } from "@cdckit/decode";
import { type RegistryClock, systemClock } from "./clock.ts";
import { type RegistryDialect, resolveDialect } from "./dialect.ts";
import { checkOptionNames } from "./option-names.ts";
import { Endpoint, isHeaderValue, type RegistryAuth } from "./endpoint.ts";

/** The options of `createRegistry`. `url` or `urls` is required. */
export interface RegistryOptions {
  /**
   * The root of the registry's API: of the Confluent API, such as `http://localhost:8081` (Apicurio's ends in `/apis/ccompat/v7`), or of
   * Apicurio's own, which ends in `/apis/registry/v3` or `/apis/registry/v2`.
   */
  readonly url?: string | URL | undefined;
  /** Several addresses of one registry, in place of `url`. If one does not answer, the next one is asked. */
  readonly urls?: readonly (string | URL)[] | undefined;
  /**
   * The API of the registry.
   * @default "apicurio" if the url ends in `/apis/registry/v3` or `/apis/registry/v2`, otherwise "confluent"
   */
  readonly dialect?: RegistryDialect;
  /**
   * How Apicurio's ids are read if they are plain numbers: as ids of contents, or of versions of artifacts. Messages in Confluent's framing
   * do not say it. Version 3 of Apicurio's serializers writes content ids, version 2 global ids.
   * @default "contentId"
   */
  readonly numericIds?: ApicurioIdSpace;
  /**
   * Credentials: `{ basic: { username, password } }`, or `{ bearer }` with a token. Either may be a function that gives it, for credentials that are
   * replaced while the process runs. A user name and password may also stand in the url.
   */
  readonly auth?: RegistryAuth | undefined;
  /** Headers of every request. Their values are treated as secrets. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Longest time that one request may take, its body included.
   * @default 10_000
   */
  readonly timeoutMs?: number;
  /**
   * How many schemas are kept, and for how long an answer "not found" is.
   * @default those of its members
   */
  readonly cache?: SchemaCacheOptions;
  /**
   * How often a request that fails is sent again, and with which pauses.
   * @default those of its members
   */
  readonly retry?: RegistryRetryOptions;
  /**
   * When an address that fails all the time is not asked any more for a while.
   * @default those of its members
   */
  readonly breaker?: RegistryBreakerOptions;
  /**
   * Requests under way at once. `ping()` does not wait for them.
   * @default 8
   */
  readonly concurrency?: number;
  /**
   * Largest answer, and largest size of a schema together with all its references, in bytes.
   * @default 4_194_304
   */
  readonly maxBodyBytes?: number;
  /**
   * Most schemas that one schema may refer to, directly or through others.
   * @default 64
   */
  readonly maxReferences?: number;
  /**
   * The `user-agent` of every request.
   * @default "cdckit-registry"
   */
  readonly userAgent?: string;
  /**
   * What sends the requests: for proxies, agents with certificates, and tests.
   * @default globalThis.fetch
   */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * Where all time comes from. For tests that own the clock.
   * @default the system's clock
   */
  readonly clock?: RegistryClock;
  /**
   * Numbers from 0 to below 1, for the jitter of pauses. For tests whose runs must be the same.
   * @default Math.random
   */
  readonly random?: () => number;
}

/** How many schemas are kept, and for how long it is believed that one does not exist. */
export interface SchemaCacheOptions {
  /**
   * The most schemas that are kept. The one that was not used for longest goes first.
   * @default 1_000
   */
  readonly maxSchemas?: number;
  /**
   * The most bytes of their texts, references included.
   * @default 67_108_864
   */
  readonly maxBytes?: number;
  /**
   * How long an id that the registry does not have is not asked for again. At random, up to a quarter longer.
   * @default 10_000
   */
  readonly notFoundTtlMs?: number;
}

/** How often, and with which pauses, a request is sent again. */
export interface RegistryRetryOptions {
  /**
   * How often a question is asked before it fails. Each attempt asks the urls in turn.
   * @default 3
   */
  readonly attempts?: number;
  /**
   * The first pause is a random part of this. The bound doubles for each further pause.
   * @default 200
   */
  readonly baseDelayMs?: number;
  /**
   * Longest pause, even if the registry asks for a longer one.
   * @default 10_000
   */
  readonly maxDelayMs?: number;
}

/** When requests to an address that does not answer are stopped for a while. */
export interface RegistryBreakerOptions {
  /**
   * Requests in a row without an answer, for any schemas, after which no request is sent for a while.
   * @default 10
   */
  readonly failures?: number;
  /**
   * How long no request is sent. At random, up to a quarter longer. Then one request shows whether the address answers again.
   * @default 5_000
   */
  readonly coolDownMs?: number;
}

/** Limits of the adapters, whose requests are sent by another client. */
export interface AdapterOptions {
  /**
   * How many schemas are kept, and for how long an answer "not found" is.
   * @default those of its members
   */
  readonly cache?: SchemaCacheOptions;
  /**
   * Longest time that the client may take for one schema, its own retries included.
   * @default 30_000
   */
  readonly timeoutMs?: number;
  /**
   * Largest size of a schema together with all its references, in bytes.
   * @default 4_194_304
   */
  readonly maxBodyBytes?: number;
  /**
   * Most schemas that one schema may refer to, directly or through others.
   * @default 64
   */
  readonly maxReferences?: number;
  /**
   * Where all time comes from. For tests that own the clock.
   * @default the system's clock
   */
  readonly clock?: RegistryClock;
  /**
   * Numbers from 0 to below 1, for the jitter of pauses. For tests whose runs must be the same.
   * @default Math.random
   */
  readonly random?: () => number;
}

export interface ResolvedRegistryOptions {
  readonly endpoints: readonly Endpoint[];
  readonly dialect: RegistryDialect;
  readonly numericIds: ApicurioIdSpace;
  readonly timeoutMs: number;
  readonly cache: Readonly<Required<SchemaCacheOptions>>;
  readonly retry: Readonly<Required<RegistryRetryOptions>>;
  readonly breaker: Readonly<Required<RegistryBreakerOptions>>;
  readonly concurrency: number;
  readonly maxBodyBytes: number;
  readonly maxReferences: number;
  readonly userAgent: string;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: RegistryClock;
  readonly random: () => number;
}

export type ResolvedAdapterOptions = Pick<
  ResolvedRegistryOptions,
  "cache" | "timeoutMs" | "maxBodyBytes" | "maxReferences" | "clock" | "random"
>;

// A longer delay overflows the runtime's timers, and they fire at once.
const maxTimerMs = 2_147_483_647;

/** Every option, present and checked. Throws a `TypeError` or a `RangeError` that names the wrong one. */
export function resolveRegistryOptions(options: RegistryOptions): ResolvedRegistryOptions {
  checkOptionNames("registry", options);
  const endpoints = resolveEndpoints(options);
  return Object.freeze({
    ...resolveAdapterOptions({ ...options, timeoutMs: options.timeoutMs ?? 10_000 }),
    endpoints,
    dialect: resolveDialect(endpoints, requireChoice("dialect", options.dialect, ["confluent", "apicurio"])),
    numericIds: requireChoice("numericIds", options.numericIds, ["contentId", "globalId"]) ?? "contentId",
    retry: resolveRetryOptions(options.retry),
    breaker: resolveBreakerOptions(options.breaker),
    concurrency: requireInteger("concurrency", options.concurrency ?? 8, 1),
    userAgent: requireUserAgent(options.userAgent ?? "cdckit-registry"),
    fetch: options.fetch ?? globalThis.fetch,
  });
}

/** The options that the adapters share. */
export function resolveAdapterOptions(options: AdapterOptions): ResolvedAdapterOptions {
  const resolved: ResolvedAdapterOptions = {
    cache: resolveCacheOptions(options.cache),
    timeoutMs: requireInteger("timeoutMs", options.timeoutMs ?? 30_000, 1, maxTimerMs),
    maxBodyBytes: requireInteger("maxBodyBytes", options.maxBodyBytes ?? 4_194_304, 1),
    maxReferences: requireInteger("maxReferences", options.maxReferences ?? 64, 0),
    clock: requireClock(options.clock ?? systemClock),
    random: options.random ?? Math.random,
  };
  const { maxBodyBytes, cache } = resolved;
  // Without this check a schema could be accepted and never be cached, and every record would fetch it again.
  if (maxBodyBytes > cache.maxBytes) {
    throw new RangeError(`maxBodyBytes (${maxBodyBytes}) exceeds cache.maxBytes (${cache.maxBytes}): a schema must fit in the cache`);
  }
  return Object.freeze(resolved);
}

function resolveCacheOptions({
  maxSchemas = 1_000,
  maxBytes = 67_108_864,
  notFoundTtlMs = 10_000,
}: SchemaCacheOptions = {}): Readonly<Required<SchemaCacheOptions>> {
  return Object.freeze({
    maxSchemas: requireInteger("cache.maxSchemas", maxSchemas, 1),
    maxBytes: requireInteger("cache.maxBytes", maxBytes, 1),
    notFoundTtlMs: requireInteger("cache.notFoundTtlMs", notFoundTtlMs, 0),
  });
}

function resolveRetryOptions({
  attempts = 3,
  baseDelayMs = 200,
  maxDelayMs = 10_000,
}: RegistryRetryOptions = {}): Readonly<Required<RegistryRetryOptions>> {
  const resolved = Object.freeze({
    attempts: requireInteger("retry.attempts", attempts, 1),
    baseDelayMs: requireInteger("retry.baseDelayMs", baseDelayMs, 0, maxTimerMs),
    maxDelayMs: requireInteger("retry.maxDelayMs", maxDelayMs, 0, maxTimerMs),
  });
  if (baseDelayMs > maxDelayMs) {
    throw new RangeError(`retry.baseDelayMs (${baseDelayMs}) exceeds retry.maxDelayMs (${maxDelayMs}): raise retry.maxDelayMs`);
  }
  return resolved;
}

function resolveBreakerOptions({
  failures = 10,
  coolDownMs = 5_000,
}: RegistryBreakerOptions = {}): Readonly<Required<RegistryBreakerOptions>> {
  return Object.freeze({
    failures: requireInteger("breaker.failures", failures, 1),
    coolDownMs: requireInteger("breaker.coolDownMs", coolDownMs, 0, maxTimerMs),
  });
}

function requireInteger(name: string, value: number, min: number, max: number = Number.MAX_SAFE_INTEGER): number {
  if (!Number.isSafeInteger(value) || value < min || value > max) {
    throw new RangeError(`${name} must be an integer from ${min} to ${max}, got ${String(value)}`);
  }
  return value;
}

function requireChoice<Choice extends string>(name: string, value: Choice | undefined, choices: readonly Choice[]): Choice | undefined {
  if (value !== undefined && !choices.includes(value)) {
    throw new TypeError(`${name} must be one of ${choices.join(", ")}, got ${String(value)}`);
  }
  return value;
}

function requireClock(clock: RegistryClock): RegistryClock {
  for (const name of ["nowMs", "wallMs", "after"] as const) {
    if (typeof clock[name] !== "function") {
      const before = name === "nowMs" && "monotonicMs" in clock ? " (it was called monotonicMs before)" : "";
      throw new TypeError(`clock.${name} must be a function${before}, got ${typeof clock[name]}`);
    }
  }
  return clock;
}

function requireUserAgent(value: string): string {
  if (!isHeaderValue(value)) {
    throw new TypeError("userAgent must be a text in Latin-1 without line breaks");
  }
  return value;
}

function resolveEndpoints(options: RegistryOptions): readonly Endpoint[] {
  const { url, urls, auth, headers } = options;
  if (url !== undefined && urls !== undefined) {
    throw new TypeError("url and urls exclude each other: put every address into urls");
  }
  if (urls !== undefined && !Array.isArray(urls)) {
    throw new TypeError(`urls must be a list of addresses, got ${typeof urls}: one address alone is url`); // without it: it may hold a password
  }
  const addresses = urls ?? (url === undefined ? [] : [url]);
  if (addresses.length === 0) {
    throw new TypeError("url is missing: pass the address of the registry, or several as urls");
  }
  return Object.freeze(addresses.map((address) => new Endpoint(address, auth, headers)));
}
