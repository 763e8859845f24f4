import { describe, expect, test } from "vitest";
import { createRegistry, type RegistryOptions } from "./index.ts";
import { resolveRegistryOptions } from "./options.ts";

const url = "http://registry.test";

describe("options", () => {
  test("have the documented defaults", () => {
    const resolved = resolveRegistryOptions({ url });
    expect(resolved).toMatchObject({
      timeoutMs: 10_000,
      concurrency: 8,
      maxBodyBytes: 4_194_304,
      maxReferences: 64,
      userAgent: "cdckit-registry",
      cache: { maxSchemas: 1_000, maxBytes: 67_108_864, notFoundTtlMs: 10_000 },
      retry: { attempts: 3, baseDelayMs: 200, maxDelayMs: 10_000 },
    });
    expect(Object.isFrozen(resolved)).toBe(true);
  });

  test.each<[RegistryOptions, string]>([
    [{}, "url is missing"],
    [undefined as never, "options must be an object of options, got undefined"],
    [{ urls: [] }, "url is missing"],
    [{ urls: url as never }, "urls must be a list of addresses, got string: one address alone is url"],
    [{ url, urls: [url] }, "url and urls exclude each other"],
    [{ url: "localhost:8081" }, "must begin with http:// or https://"],
    [{ url: "registry" }, 'such as "http://localhost:8081"'],
    [{ url: "http://registry/?x=1" }, "must not have a query"],
    [{ url, headers: { "a b": "c" } }, 'a name that HTTP does not allow: "a b"'],
    [{ url, headers: { a: "b\nc" } }, "headers.a must be text"],
    [{ url, userAgent: "a\nb" }, "userAgent must be a text"],
    [{ url, auth: { bearer: "x" }, headers: { Authorization: "y" } }, "auth and headers.authorization exclude each other"],
    [{ url: "http://u:p@registry", auth: { bearer: "x" } }, "auth and the userinfo of url exclude each other"],
    [{ url, timeoutMs: 0 }, "timeoutMs must be an integer from 1"],
    [{ url, timeoutMs: 2 ** 31 }, "timeoutMs must be an integer from 1 to 2147483647"],
    [{ url, concurrency: 0 }, "concurrency must be"],
    [{ url, maxReferences: -1 }, "maxReferences must be"],
    [{ url, cache: { maxSchemas: 0 } }, "cache.maxSchemas must be"],
    [{ url, cache: { notFoundTtlMs: 0.5 } }, "cache.notFoundTtlMs must be"],
    [{ url, retry: { attempts: 0 } }, "retry.attempts must be"],
    [{ url, retry: { baseDelayMs: 5, maxDelayMs: 4 } }, "retry.baseDelayMs (5) exceeds retry.maxDelayMs (4)"],
    [{ url, cache: { maxBytes: 1_000 } }, "maxBodyBytes (4194304) exceeds cache.maxBytes (1000)"],
  ])("%j are refused in words", (options, message) => {
    expect(() => createRegistry(options)).toThrow(message);
  });
});

test("a time-out that is handed on as undefined is the default of a request, not that of an adapter", () => {
  const given = { url: "http://localhost:8081", timeoutMs: undefined } as unknown as Parameters<typeof resolveRegistryOptions>[0]; // as JavaScript may
  expect(resolveRegistryOptions(given).timeoutMs).toBe(10_000);
});

test.each<[string, object]>([
  ["cache", { maxSchemas: undefined, maxBytes: undefined, notFoundTtlMs: undefined }],
  ["retry", { attempts: undefined, baseDelayMs: undefined, maxDelayMs: undefined }],
  ["breaker", { failures: undefined, coolDownMs: undefined }],
])("members of %s that are handed on as undefined have their defaults", (name, members) => {
  const given = { url, [name]: members } as unknown as RegistryOptions; // as JavaScript may
  expect(resolveRegistryOptions(given)).toMatchObject({ [name]: resolveRegistryOptions({ url })[name as "cache"] });
});
