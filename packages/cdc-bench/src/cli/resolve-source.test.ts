import { describe, expect, test } from "vitest";
import { resolveSource } from "./resolve-source.ts";

const cluster = { brokers: ["a:1"], topics: ["t"] };
const resolved = { connection: { brokers: ["a:1"] }, topics: ["t"] };

describe("the source of messages", () => {
  test("is the topics of a cluster", () => {
    expect(resolveSource({ ...cluster, registry: "http://r" }, {})).toEqual({
      kind: "cluster",
      ...resolved,
      registry: { url: "http://r" },
    });
  });

  test("takes brokers and registry from the environment if no flag names them", () => {
    const env = { KAFKA_BROKERS: "b:2,c:3", SCHEMA_REGISTRY_URL: "http://env" };
    expect(resolveSource({ topics: ["t"] }, env)).toEqual({
      kind: "cluster",
      connection: { brokers: ["b:2", "c:3"] },
      topics: ["t"],
      registry: { url: "http://env" },
    });
    expect(resolveSource({ ...cluster, registry: "http://flag" }, env)).toMatchObject({ ...resolved, registry: { url: "http://flag" } });
  });

  test("is the recording when there is one, whatever brokers the environment names", () => {
    expect(resolveSource({ file: "f", schemas: "s" }, { KAFKA_BROKERS: "b:2", SCHEMA_REGISTRY_URL: "http://env" })).toEqual({
      kind: "file",
      file: "f",
      schemasFile: "s",
      registry: undefined,
    });
  });

  test.each([
    ["nothing", {}, {}, "nothing to read from"],
    ["no topics", { brokers: ["a:1"] }, {}, "which topics"],
    ["two sources", { ...cluster, file: "f" }, {}, "two sources"],
    ["two sources of schemas", { file: "f", schemas: "s", registry: "http://r" }, {}, "two sources of schemas"],
    ["a wrong environment", { topics: ["t"] }, { KAFKA_BROKERS: "localhost" }, "KAFKA_BROKERS is wrong"],
  ])("with %s is a usage error that says so", (_case, flags, env, said) => {
    expect(() => resolveSource(flags, env)).toThrow(expect.objectContaining({ code: "usage", detail: expect.stringContaining(said) }));
  });
});
