import { describe, expect, test } from "vitest";
import { createConsumer } from "../consumer.ts";
import { isConsumerError } from "../errors.ts";
import { silentLogger } from "../observe/logger.ts";
import { resolveWorkersOptions, type WorkersOptions } from "./workers-options.ts";

const module = new URL("file:///service/orders.js");
const valid: WorkersOptions = { workers: 2, module, groupId: "g", topics: ["t", /^u/] };

function failureOf(change: Readonly<Record<string, unknown>>): string {
  try {
    createConsumer({ ...valid, ...change } as WorkersOptions);
  } catch (error) {
    return isConsumerError(error) && error.code === "invalid-option" ? error.message : String(error);
  }
  return "none";
}

class Client {
  connect(): void {}
}

describe("options of a consumer with workers", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;

  test.each<[string, Record<string, unknown>]>([
    ["driver is a client", { driver: new Client() }],
    ["decoder.values.decimal is a function", { decoder: { values: { decimal: () => 0 } } }],
    ["decoder.topics.t.value is an instance of Client", { decoder: { topics: { t: { value: new Client() } } } }],
    ["failure.isRetriable is a function", { failure: { isRetriable: () => true } }],
    ["registry.peek is a function", { registry: { peek: () => undefined, load: () => undefined } }],
    ["registry is an instance of Client", { registry: new Client() }],
    ["registry.tls.ca is an instance of URL", { registry: { url: "http://r", tls: { ca: module } } }],
    ["clock is an instance of Client", { clock: new Client() }],
    ["random is a function", { random: Math.random }],
    ["telemetry.opentelemetry makes spans", { telemetry: { opentelemetry: {} } }],
  ])("%s: it cannot cross to a thread, and the error says where it belongs", (text, change) => {
    expect(failureOf(change)).toContain(`[invalid-option] ${text}`);
    expect(failureOf(change)).toContain("where the module calls createConsumer");
  });

  test.each<[string, Record<string, unknown>]>([
    ["workers must be a positive integer, got 0", { workers: 0 }],
    ["workers must be a positive integer, got NaN", { workers: Number.NaN }],
    ['workers must be a positive integer, got "2"', { workers: "2" }],
    ["workers must be at most 256, got 257", { workers: 257 }],
    [
      'module must be a URL, as in new URL("./orders.js", import.meta.url), or an absolute path, got "./orders.js"',
      { module: "./orders.js" },
    ],
    ["module must be", { module: undefined }],
    ["resourceLimits.heapMb is no option", { resourceLimits: { heapMb: 4 } }],
    ["resourceLimits.stackSizeMb must be a number of megabytes, got -1", { resourceLimits: { stackSizeMb: -1 } }],
    ["groupId must be", { groupId: "" }],
    ["topics must be", { topics: [] }],
    ["handlers is no option", { handlers: {} }],
  ])("%s", (text, change) => {
    expect(failureOf(change)).toContain(text);
  });

  test("without workers, the module and its limits are no options", () => {
    expect(failureOf({ workers: undefined })).toContain("module is no option");
  });

  test("what is data crosses as it is, and what joins the threads stays", () => {
    const options = {
      ...valid,
      from: { orders: { 0: 7n } } as never,
      delivery: { concurrency: 4 },
      failure: { retry: false as const },
      logger: silentLogger,
      signals: false as const,
      telemetry: {},
      startup: undefined as never,
    };
    const { crossing } = resolveWorkersOptions({ ...options, from: "latest" });
    expect(crossing).toEqual({
      groupId: "g",
      topics: ["t", /^u/],
      from: "latest",
      delivery: { concurrency: 4 },
      failure: { retry: false },
    });
    expect(structuredClone(crossing)).toEqual(crossing);
  });

  test.each([
    [{ url: new URL("http://r:8081/a") }, { url: "http://r:8081/a" }],
    [
      { url: "http://r", timeoutMs: 5 },
      { url: "http://r", timeoutMs: 5 },
    ],
    [{ urls: [new URL("http://r"), "http://s"] }, { urls: ["http://r/", "http://s"] }],
  ])("the addresses of a registry %o cross as texts", (registry, expected) => {
    expect(resolveWorkersOptions({ ...valid, registry } as never).crossing["registry"]).toEqual(expected);
  });

  test("the levels that no logger would write do not cross", () => {
    expect(resolveWorkersOptions(valid).levels).toEqual(["warn", "error"]);
    expect(resolveWorkersOptions({ ...valid, logger: false }).levels).toEqual([]);
    expect(resolveWorkersOptions({ ...valid, logger: silentLogger }).levels).toEqual(["debug", "info", "warn", "error"]);
  });

  test("an absolute path becomes the address of its file", () => {
    expect(resolveWorkersOptions({ ...valid, module: "/service/a b.js" }).module).toBe("file:///service/a%20b.js");
  });

  test("options that refer to themselves are looked at once", () => {
    expect(failureOf({ registry: { url: "http://r", headers: cyclic } })).toBe("none");
  });
});
