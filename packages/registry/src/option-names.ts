/** The names of each object of options. A test compares them with the types. */
export const optionNames = {
  adapter: { cache: true, timeoutMs: true, maxBodyBytes: true, maxReferences: true, clock: true, random: true },
  confluentClient: { cache: true, timeoutMs: true, maxBodyBytes: true, maxReferences: true, clock: true, random: true, subject: true },
  registry: {
    url: true,
    urls: true,
    dialect: true,
    numericIds: true,
    auth: true,
    headers: true,
    timeoutMs: true,
    cache: true,
    retry: true,
    breaker: true,
    concurrency: true,
    maxBodyBytes: true,
    maxReferences: true,
    userAgent: true,
    fetch: true,
    clock: true,
    random: true,
  },
  auth: { basic: true, bearer: true },
  cache: { maxSchemas: true, maxBytes: true, notFoundTtlMs: true },
  retry: { attempts: true, baseDelayMs: true, maxDelayMs: true },
  breaker: { failures: true, coolDownMs: true },
} as const;

/**
 * Refuses names that are no options: a misspelt option would otherwise have no effect, and nobody would notice. Throws a `TypeError` with the
 * path of the name and the names that there are. It never shows a value, which may be a secret.
 */
export function checkOptionNames(kind: "registry" | "adapter" | "confluentClient", options: unknown): void {
  checkNames("", options, optionNames[kind]);
  const { cache, retry, breaker, auth } = options as Readonly<Record<string, unknown>>;
  checkNames("cache", cache, optionNames.cache);
  if (kind === "registry") {
    checkNames("retry", retry, optionNames.retry);
    checkNames("breaker", breaker, optionNames.breaker);
    checkNames("auth", auth, optionNames.auth);
  }
}

function checkNames(path: string, given: unknown, known: Readonly<Record<string, true>>): void {
  if (given === undefined && path !== "") {
    return;
  }
  if (typeof given !== "object" || given === null) {
    throw new TypeError(`${path === "" ? "options" : path} must be an object of options, got ${given === null ? "null" : typeof given}`);
  }
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !Object.hasOwn(known, name)) {
      const place = path === "" ? name : `${path}.${name}`;
      throw new TypeError(`${place} is no option; the options are ${Object.keys(known).join(", ")}`);
    }
  }
}
