import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { createRegistry, isRegistryError, RegistryError } from "./index.ts";
import { answers, failureOf, json, recordAnswer, serve, TestClock } from "./registry-server.contract.ts";

describe("a schema that is asked for", () => {
  test("is fetched once and at hand ever after", async () => {
    const server = await serve(answers({ "/schemas/ids/7": recordAnswer("Order") }));
    const registry = createRegistry({ url: server.url });
    expect(registry.peek(7)).toBeUndefined();
    const schema = await registry.load(7);
    expect(schema).toEqual({ id: 7, schemaType: "AVRO", ...recordAnswer("Order") });
    expect(registry.peek(7)).toBe(schema);
    expect(await registry.load(7)).toBe(schema);
    expect(server.paths).toEqual(["/schemas/ids/7"]);
  });

  test("costs one request for a thousand that wait for it", async () => {
    const server = await serve(answers({ "/schemas/ids/7": recordAnswer("Order") }));
    const registry = createRegistry({ url: server.url });
    const loads = await Promise.all(Array.from({ length: 1_000 }, () => registry.load(7)));
    expect(new Set(loads).size).toBe(1);
    expect(server.requests.length).toBe(1);
  });

  test("costs one request for a thousand that wait when it fails, and they share the failure", async () => {
    const server = await serve((_, response) => json(response, 500, {}));
    const registry = createRegistry({ url: server.url, retry: { attempts: 1 } });
    const failures = await Promise.all(Array.from({ length: 1_000 }, () => failureOf(registry.load(7))));
    expect(new Set(failures).size).toBe(1);
    expect(server.requests.length).toBe(1);
    await failureOf(registry.load(7));
    expect(server.requests.length).toBe(2); // a failure that may pass is not remembered
  });

  test("is told apart by number and by text", async () => {
    const guid = "6a7f2d3e-0b1c-4d5e-8f90-112233445566";
    const server = await serve(answers({ [`/schemas/guids/${guid}`]: recordAnswer("ByGuid"), "/schemas/ids/1": recordAnswer("ByNumber") }));
    const registry = createRegistry({ url: server.url });
    expect((await registry.load(guid)).id).toBe(guid);
    expect((await registry.load(1)).id).toBe(1);
    expect(registry.peek("1")).toBeUndefined();
  });

  test.each([-1, 1.5, Number.NaN, "../subjects", "7"])("is refused without a request where its id is %s", async (id) => {
    const server = await serve(answers({}));
    const registry = createRegistry({ url: server.url });
    expect((await failureOf(registry.load(id))).code).toBe("refused");
    expect(server.requests.length).toBe(0);
  });

  test("keeps the path of the registry's url", async () => {
    const server = await serve(answers({ "/apis/ccompat/v7/schemas/ids/7": recordAnswer("Order") }));
    const registry = createRegistry({ url: `${server.url}/apis/ccompat/v7/` });
    expect((await registry.load(7)).id).toBe(7);
  });

  test("names its type where it is not Avro", async () => {
    const server = await serve(answers({ "/schemas/ids/7": { schema: "syntax = 'proto3';", schemaType: "PROTOBUF" } }));
    expect((await createRegistry({ url: server.url }).load(7)).schemaType).toBe("PROTOBUF");
  });

  test("never has more requests under way than the concurrency allows", async () => {
    const held: (() => void)[] = [];
    let holds = true;
    const server = await serve((request, response) => {
      const answer = (): void => json(response, 200, recordAnswer(`R${request.url?.length}`));
      if (holds) {
        held.push(answer);
      } else {
        answer();
      }
    });
    const registry = createRegistry({ url: server.url, concurrency: 3 });
    const loading = Promise.all(Array.from({ length: 50 }, (_, id) => registry.load(id)));
    await server.arrived(3);
    expect(registry.stats()).toMatchObject({ requests: 3, loading: 50 });
    holds = false;
    for (const answer of held) {
      answer();
    }
    await loading;
    expect(server.requests.length).toBe(50);
  });

  test("does not wait behind another one that hangs", async () => {
    const server = await serve((request, response) => {
      if (request.url === "/schemas/ids/2") {
        json(response, 200, recordAnswer("Quick"));
      }
    });
    const registry = createRegistry({ url: server.url });
    const hanging = failureOf(registry.load(1));
    expect((await registry.load(2)).id).toBe(2);
    await registry.close();
    await hanging;
  });
});

describe("an id that the registry does not have", () => {
  test("is not asked for again until its time has passed, and then found", async () => {
    const byPath: Record<string, unknown> = {};
    const server = await serve((request, response, count) => answers(byPath)(request, response, count));
    const clock = new TestClock();
    const registry = createRegistry({ url: server.url, clock, random: () => 0.99, cache: { notFoundTtlMs: 10_000 } });
    const failure = await failureOf(registry.load(49));
    expect(failure).toMatchObject({ code: "not-found", status: 404, id: 49, url: server.url, retriable: false });
    expect(failure.message).toContain("is this the registry that the producer wrote to");
    expect(failure.message).toContain("content ids");
    byPath["/schemas/ids/49"] = recordAnswer("Late");
    clock.advance(10_001); // the jitter only ever lengthens the time
    expect(await failureOf(registry.load(49))).toBe(failure);
    expect(server.requests.length).toBe(1);
    clock.advance(2_500);
    expect((await registry.load(49)).id).toBe(49);
    expect(server.requests.length).toBe(2);
  });

  test("is one of a bounded number that are remembered", async () => {
    const server = await serve(answers({}));
    const registry = createRegistry({ url: server.url, cache: { maxSchemas: 10 } });
    await Promise.all(Array.from({ length: 40 }, (_, id) => failureOf(registry.load(id))));
    expect(registry.stats().missingIds).toBe(10);
  });

  test("is told differently where the answer is not a registry's", async () => {
    const server = await serve((_, response) => response.writeHead(404).end("<html>nothing here</html>"));
    const failure = await failureOf(createRegistry({ url: server.url, clock: new TestClock() }).load(1));
    expect(failure.code).toBe("unavailable");
    expect(failure.message).toContain("is url the root of its API (Apicurio: /apis/ccompat/v7 or /apis/registry/v3)");
    expect(failure.message).not.toContain("html");
  });
});

describe("closing", () => {
  test("ends what is under way, leaves no timer, and keeps what is cached", async () => {
    const server = await serve((request, response) => {
      if (request.url === "/schemas/ids/1") {
        json(response, 200, recordAnswer("Kept"));
      }
    });
    const clock = new TestClock();
    const registry = createRegistry({ url: server.url, clock, concurrency: 2 });
    await registry.load(1);
    const waiting = [2, 3, 4, 5].map((id) => failureOf(registry.load(id)));
    await server.arrived(3);
    await registry.close();
    for (const failure of await Promise.all(waiting)) {
      expect(failure.code).toBe("unavailable");
      expect(failure.message).toContain("was closed");
    }
    expect(clock.open).toBe(0);
    expect(registry.peek(1)?.id).toBe(1);
    expect((await registry.load(1)).id).toBe(1);
    expect((await failureOf(registry.load(9))).code).toBe("unavailable");
    await registry.close();
    expect(server.requests.length).toBe(3);
  });

  test("ends a pause between two attempts", async () => {
    const server = await serve((_, response) => json(response, 503, {}));
    const clock = new TestClock();
    clock.holdsPauses = true;
    const registry = createRegistry({ url: server.url, clock });
    const failing = failureOf(registry.load(1));
    await server.arrived(1);
    while (clock.pauses.length === 0) {
      await new Promise(setImmediate);
    }
    await registry.close();
    expect((await failing).message).toContain("was closed");
    expect(clock.open).toBe(0);
  });

  test("happens by itself at the end of a block", async () => {
    const server = await serve(answers({ "/schemas/ids/1": recordAnswer("Kept") }));
    const registry = createRegistry({ url: server.url });
    await registry[Symbol.asyncDispose]();
    expect((await failureOf(registry.load(1))).message).toContain("was closed");
  });
});

describe("what else a registry tells", () => {
  test("ping says in words whether each address answers as a registry", async () => {
    const good = await serve(answers({ "/schemas/types": ["JSON", "PROTOBUF", "AVRO"] }));
    const elsewhere = await serve((_, response) => response.writeHead(404).end());
    const other = await serve((_, response) => json(response, 200, { hello: "world" }));
    const gone = await serve(answers({}));
    await gone.close();
    const registry = createRegistry({ urls: [good.url, elsewhere.url, other.url, gone.url] });
    const pings = await registry.ping();
    expect(pings.map((ping) => ping.ok)).toEqual([true, false, false, false]);
    expect(pings[0]?.detail).toBe(`${good.url} answers as a schema registry (JSON, PROTOBUF, AVRO)`);
    expect(pings[1]?.detail).toContain("is url the root of its API");
    expect(pings[2]?.detail).toContain("not as a schema registry does");
    expect(pings[3]?.detail).toContain("(ECONNREFUSED): is it running, and are host and port right");
    expect(good.requests.length).toBe(1);
  });

  test("ping knows a registry that is older than the list of schema types", async () => {
    const unknownPath = { error_code: 404, message: "HTTP 404 Not Found" };
    const old = await serve((request, response) =>
      request.url === "/subjects" ? json(response, 200, ["orders-value"]) : json(response, 404, unknownPath),
    );
    const wrongPath = await serve((_, response) => json(response, 404, unknownPath));
    const pings = await createRegistry({ urls: [old.url, wrongPath.url] }).ping();
    expect(pings.map(({ ok, isPermanent }) => [ok, isPermanent])).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  test("ping takes a 401 for permanent, and a 403 not: schemas by id may be allowed all the same", async () => {
    const unknown = await serve((_, response) => json(response, 401, {}));
    const forbidden = await serve((_, response) => json(response, 403, {}));
    const pings = await createRegistry({ urls: [unknown.url, forbidden.url] }).ping();
    expect(pings.map(({ ok, isPermanent, status }) => [ok, isPermanent, status])).toEqual([
      [false, true, 401],
      [false, false, 403],
    ]);
  });

  test("subjects and the latest version of one, whatever its name holds", async () => {
    const latest = { subject: "inv/orders?-value", version: 3, id: 12, ...recordAnswer("Order") };
    const server = await serve(
      answers({ "/subjects": ["a", "b"], [`/subjects/${encodeURIComponent(latest.subject)}/versions/latest`]: latest }),
    );
    const registry = createRegistry({ url: server.url });
    expect(await registry.subjects()).toEqual(["a", "b"]);
    expect(await registry.latest(latest.subject)).toMatchObject({ id: 12, version: 3, subject: latest.subject, schemaType: "AVRO" });
    expect((await failureOf(registry.latest("nope"))).code).toBe("not-found");
    const cut = await failureOf(registry.latest("\ud800"));
    expect(cut.code).toBe("refused");
    expect(cut.message).toContain('subject "\\ud800" has half of a surrogate pair, and cannot be asked for');
  });

  test("stats count requests, and show in inspect and JSON", async () => {
    const server = await serve(answers({ "/schemas/ids/7": recordAnswer("Order") }));
    const registry = createRegistry({ url: server.url });
    await registry.load(7);
    const stats = registry.stats();
    expect(stats).toMatchObject({ urls: [server.url], cachedSchemas: 1, requests: 1, retries: 0, loading: 0, missingIds: 0 });
    expect(JSON.parse(JSON.stringify(registry))).toEqual(stats);
    expect(inspect(registry)).toContain("requests: 1");
  });
});

test("an error of another copy of this package is recognised", () => {
  const foreign = Object.defineProperty(new Error("x"), Symbol.for("@cdckit/registry/RegistryError"), { value: true });
  expect(isRegistryError(foreign)).toBe(true);
  expect(isRegistryError(new RegistryError("refused", "y"))).toBe(true);
  expect(isRegistryError(new Error("z"))).toBe(false);
});
