import type { ServerResponse } from "node:http";
import { createGzip, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createRegistry, type RegistryAuth, type RegistryLogin } from "./index.ts";
import { answers, failureOf, json, recordAnswer, serve, TestClock } from "./registry-server.contract.ts";

describe("a 404", () => {
  const page = (response: ServerResponse): unknown => response.writeHead(404).end("<h1>default backend</h1>");
  const bare = (response: ServerResponse): unknown => response.writeHead(404).end();
  /** What Jersey, under Confluent's registry, says of a path that it does not know. */
  const path = (response: ServerResponse): void => json(response, 404, { error_code: 404, message: "HTTP 404 Not Found" });
  const apicurioPath = (response: ServerResponse): void => json(response, 404, { error_code: 404, name: "NotFoundException" });
  const apicurio = (response: ServerResponse): void => json(response, 404, { error_code: 404, name: "ContentNotFoundException" });

  test.each([
    ["a registry's code for a schema", answers({}), "not-found"],
    ["the name of a registry's exception for content", (_: unknown, response: ServerResponse) => apicurio(response), "not-found"],
    ["a proxy's page", (_: unknown, response: ServerResponse) => page(response), "unavailable"],
    ["nothing", (_: unknown, response: ServerResponse) => bare(response), "unavailable"],
    ["an unknown path", (_: unknown, response: ServerResponse) => path(response), "unavailable"],
    ["an unknown path of Apicurio", (_: unknown, response: ServerResponse) => apicurioPath(response), "unavailable"],
  ] as const)("with %s says that there is no such schema only in a registry's words", async (_, handler, code) => {
    const { url } = await serve(handler);
    const failure = await failureOf(createRegistry({ url, clock: new TestClock() }).load(7));
    expect([failure.code, failure.isRegistry]).toEqual([code, code === "not-found"]);
  });

  const guid = "6a7f2d3e-0b1c-4d5e-8f90-112233445566";
  test.each([
    ["GUIDs", "", guid, "/schemas/types"],
    ["GUIDs and the list of types", "", guid, "/subjects"],
    ["Apicurio's own API", "/apis/ccompat/v7", "contentId:7", "/apis/ccompat/v7/schemas/types"],
  ] as const)("to a registry's question without %s says that there is no such schema", async (_, root, id, answered) => {
    const server = await serve((request, response) => (request.url === answered ? json(response, 200, ["AVRO"]) : path(response)));
    const clock = new TestClock();
    const failure = await failureOf(createRegistry({ url: `${server.url}${root}`, clock }).load(id));
    expect(failure).toMatchObject({ code: "not-found", isRegistry: true, status: 404 });
    expect(failure.message).toContain("without the path for such ids");
    expect(clock.pauses).toEqual([]);
  });

  test.each([
    ["nothing else", path],
    ["a proxy's answers", (response: ServerResponse) => response.writeHead(200).end("{}")],
  ] as const)("to a GUID remains an outage beside %s", async (_, other) => {
    const { url } = await serve((request, response) => (request.url?.includes("guids") === true ? path(response) : other(response)));
    expect(await failureOf(createRegistry({ url, clock: new TestClock() }).load(guid))).toMatchObject({ code: "unavailable" });
  });

  test("of a proxy passes: the schema is there when the registry answers again", async () => {
    const { url } = await serve((_, response, count) =>
      count === 1 ? page(response) : count === 2 ? response.writeHead(200).end("<html>") : json(response, 200, recordAnswer("Order")),
    );
    expect((await createRegistry({ url, clock: new TestClock() }).load(7)).id).toBe(7);
  });
});

describe("a registry that does not answer", () => {
  const failing =
    (code: string): typeof fetch =>
    () =>
      Promise.reject(new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code }) }));

  test.each([
    ["CERT_HAS_EXPIRED", "its certificate has expired"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "its certificate is for another name"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "name the authority in NODE_EXTRA_CA_CERTS"],
    ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "it wants a certificate of the client"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "does its url begin with http://"],
    ["ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE", "does it want a certificate of the client"],
    ["ERR_OSSL_X509_KEY_VALUES_MISMATCH", "do they belong together"],
    ["UND_ERR_SOCKET", "does it want a certificate of the client"],
  ])("for the reason %s is told with what to change", async (code, advice) => {
    const failure = await failureOf(createRegistry({ url: "https://registry", clock: new TestClock(), fetch: failing(code) }).load(7));
    expect(failure.message).toContain(`(${code}): `);
    expect(failure.message).toContain(advice);
  });

  test("over http and ends the connection may want https", async () => {
    const { url } = await serve((_, response) => response.destroy());
    expect((await failureOf(createRegistry({ url, clock: new TestClock() }).load(7))).message).toContain("does it want https");
  });

  test("is not asked for a while, and what was wrong is told meanwhile", async () => {
    const registry = createRegistry({
      url: "https://registry",
      clock: new TestClock(),
      fetch: failing("CERT_HAS_EXPIRED"),
      retry: { attempts: 1 },
    });
    const failures = [];
    for (let i = 0; i < 20; i++) {
      failures.push(await failureOf(registry.load(i)));
    }
    expect(failures.at(-1)?.message).toMatch(/is not asked for another \d+ ms\. The last time: .*its certificate has expired/);
  });

  test("is given up when its time is over, and asked again", async () => {
    const server = await serve((_, response, count) => {
      if (count === 2) {
        json(response, 200, recordAnswer("Order"));
      }
    });
    const clock = new TestClock();
    const registry = createRegistry({ url: server.url, clock });
    const loading = registry.load(7);
    await server.arrived(1);
    clock.passDeadlines();
    expect((await loading).id).toBe(7);
    expect(clock.open).toBe(0);
  });

  test.each([
    ["auth.bearer", { bearer: () => new Promise<never>(() => {}) }],
    ["auth.basic", { basic: () => new Promise<never>(() => {}) }],
  ])("is not blamed for a function %s that gives nothing in time", async (option, auth) => {
    const server = await serve(answers({}));
    const clock = new TestClock(5_000);
    const registry = createRegistry({ url: server.url, clock, timeoutMs: 5_000, retry: { attempts: 1 }, auth });
    const failing = failureOf(registry.load(7));
    clock.passDeadlines();
    const { message } = await failing;
    expect(message).toBe(`[unavailable] ${option} gave nothing within 5000 ms, before ${server.url} could be asked for schema id 7`);
    expect(server.requests).toEqual([]);
  });

  test("is given up in the middle of its answer too", async () => {
    const server = await serve((_, response) => {
      response.writeHead(200);
      response.write('{"schema":');
    });
    const clock = new TestClock(5_000);
    const registry = createRegistry({ url: server.url, clock, timeoutMs: 5_000, retry: { attempts: 1 } });
    const failing = failureOf(registry.load(7));
    await server.arrived(1);
    clock.passDeadlines();
    const failure = await failing;
    expect(failure).toMatchObject({ code: "unavailable", retriable: true, url: server.url, id: 7 });
    expect(failure.message).toContain("did not answer schema id 7 within 5000 ms");
  });

  test("is told by what the system says of it", async () => {
    const server = await serve(answers({}));
    await server.close();
    const clock = new TestClock();
    const failure = await failureOf(createRegistry({ url: server.url, clock }).load(7));
    expect(failure.code).toBe("unavailable");
    expect(failure.message).toContain("ECONNREFUSED");
    expect(failure.message).toContain("gave up after 3 attempts");
    expect(clock.pauses.length).toBe(2);
  });

  test("is asked again where it hangs up", async () => {
    const server = await serve((request, response, count) => {
      if (count < 3) {
        response.writeHead(200, { "content-length": "1000" });
        response.write("{");
        request.socket.destroySoon();
      } else {
        json(response, 200, recordAnswer("Order"));
      }
    });
    const registry = createRegistry({ url: server.url, clock: new TestClock() });
    expect((await registry.load(7)).id).toBe(7);
    expect(registry.stats()).toMatchObject({ requests: 3, retries: 2 });
  });
});

describe("a status", () => {
  test.each([408, 429, 500, 502, 503, 504, 599])("of %i is asked again", async (status) => {
    const server = await serve((_, response, count) =>
      count === 1 ? json(response, status, {}) : json(response, 200, recordAnswer("Order")),
    );
    const clock = new TestClock();
    expect((await createRegistry({ url: server.url, clock, random: () => 0.5 }).load(7)).id).toBe(7);
    expect(clock.pauses).toEqual([100]);
  });

  test("with Retry-After is obeyed, in seconds and as a date, up to the longest pause", async () => {
    const given = ["3", "Thu, 01 Jan 2026 00:00:05 GMT", "86400", "soon"];
    const server = await serve((_, response, count) => {
      const retryAfter = given[count - 1];
      if (retryAfter === undefined) {
        json(response, 200, recordAnswer("Order"));
      } else {
        json(response, 429, {}, { "retry-after": retryAfter, date: "Thu, 01 Jan 2026 00:00:00 GMT" });
      }
    });
    const clock = new TestClock(60_000);
    const retry = { attempts: 5, baseDelayMs: 100, maxDelayMs: 10_000 };
    await createRegistry({ url: server.url, clock, timeoutMs: 60_000, random: () => 0, retry }).load(7);
    expect(clock.pauses).toEqual([3_000, 5_000, 10_000, 0]);
  });

  test("is known while the load pauses and asks again, and not after it", async () => {
    const statuses: unknown[] = [];
    const server = await serve((_, response, count) => {
      statuses.push((registry.lastFailure?.(7) as { status?: number } | undefined)?.status, registry.lastFailure?.(8));
      json(response, count === 1 ? 429 : 200, count === 1 ? {} : recordAnswer("Order"), { "retry-after": "3" });
    });
    const registry = createRegistry({ url: server.url, clock: new TestClock() });
    await registry.load(7);
    expect(statuses).toEqual([undefined, undefined, 429, undefined]);
    expect(registry.lastFailure?.(7)).toBeUndefined();
  });

  test("of 407, which fetch keeps to itself, is told as what it probably is", async () => {
    const { url } = await serve((_, response) => response.writeHead(407).end());
    const failure = await failureOf(createRegistry({ url, clock: new TestClock() }).load(7));
    expect(failure.code).toBe("unavailable");
    expect(failure.message).toContain("a proxy that wants credentials (407)");
  });

  test("that never gets better ends after all attempts, and the failure says for how long to stay away", async () => {
    const server = await serve((_, response) => json(response, 503, { error_code: 50302, message: "secret text" }, { "retry-after": "7" }));
    const failure = await failureOf(createRegistry({ url: server.url, clock: new TestClock() }).load(7));
    expect(failure).toMatchObject({ code: "unavailable", status: 503, retryAfterMs: 7_000 });
    expect(failure.message).toContain("(503, error_code 50302)");
    expect(failure.message).not.toContain("secret text");
    expect(server.requests.length).toBe(3);
  });

  test.each([
    [401, "check auth"],
    [403, "ask for read access"],
    [400, "is url the root"],
    [422, "is url the root"],
    [300, "is url the root"],
  ])("of %i is final", async (status, advice) => {
    const server = await serve((_, response) => json(response, status, { error_code: status * 100 }));
    const registry = createRegistry({ url: server.url });
    const failure = await failureOf(registry.load(7));
    expect(failure).toMatchObject({ code: "refused", status, retriable: false });
    expect(failure.message).toContain(advice);
    expect(server.requests.length).toBe(1);
  });
});

test("a schema that Apicurio refuses at its Confluent API is told with the address that has it", async () => {
  const server = await serve((_, response) => json(response, 400, { error_code: 0, message: "secret text" }));
  const failure = await failureOf(createRegistry({ url: `${server.url}/apis/ccompat/v7` }).load(7));
  expect(failure).toMatchObject({ code: "refused", status: 400 });
  expect(failure.message).toMatch(
    /refused to answer schema id 7 \(400, error_code 0\): .* default of "\{\}": set url to .*\/apis\/registry\/v3$/,
  );
});

describe("an answer that is not a schema", () => {
  test.each([301, 302, 303, 307, 308])(
    "a redirect (%i) is never followed: it is an outage, which ends a consumer only at its start",
    async (status) => {
      const target = await serve(answers({ "/schemas/ids/7": recordAnswer("Order") }));
      const server = await serve((request, response) => response.writeHead(status, { location: `${target.url}${request.url}` }).end());
      const registry = createRegistry({ url: server.url, auth: { bearer: "token" }, retry: { attempts: 1 }, clock: new TestClock() });
      const failure = await failureOf(registry.load(7));
      expect(failure).toMatchObject({ code: "unavailable", isRegistry: false });
      expect(failure.message).toContain("redirected");
      expect(await registry.ping()).toMatchObject([{ ok: false, isPermanent: true, detail: expect.stringContaining("redirected") }]);
      expect(target.requests.length).toBe(0);
    },
  );

  test("a redirect in passing does not fail a load: the registry is asked again", async () => {
    const server = await serve((request, response, count) =>
      count === 1
        ? response.writeHead(302, { location: "/login" }).end()
        : answers({ "/schemas/ids/7": recordAnswer("Order") })(request, response, count),
    );
    expect(await createRegistry({ url: server.url, clock: new TestClock() }).load(7)).toMatchObject({ id: 7, schemaType: "AVRO" });
    expect(server.paths).toEqual(["/schemas/ids/7", "/schemas/ids/7"]);
  });

  test.each<[string, unknown, (give: () => unknown) => RegistryAuth]>([
    ["auth.bearer", "secret", (give) => ({ bearer: give as () => string })],
    ["auth.basic", { username: "me", password: "secret" }, (give) => ({ basic: give as () => RegistryLogin })],
  ])(
    "a function %s that gives nothing for a moment is asked again; one that never gives any ends a consumer at its start",
    async (name, good, authOf) => {
      const server = await serve(answers({ "/schemas/ids/7": recordAnswer("Order") }));
      const given = [undefined, good];
      const late = createRegistry({ url: server.url, clock: new TestClock(), auth: authOf(() => given.shift()) });
      expect(await late.load(7)).toMatchObject({ id: 7 });
      expect([given.length, server.requests.length]).toEqual([0, 1]);

      const never = createRegistry({ url: server.url, clock: new TestClock(), auth: authOf(() => undefined) });
      expect(await never.ping()).toMatchObject([{ ok: false, isPermanent: true, detail: expect.stringContaining(`${name} must return`) }]);
      expect(server.requests.length).toBe(1);
    },
  );

  test("a body that never ends is cut at the limit", async () => {
    let sent = 0;
    let hungUp: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => {
      hungUp = resolve;
    });
    const server = await serve((_, response) => {
      const chunk = Buffer.alloc(65_536, 0x20);
      const pump = (): void => {
        while (!response.destroyed && response.write(chunk)) {
          sent += chunk.length;
        }
      };
      response.on("drain", pump).on("close", hungUp);
      pump();
    });
    const failure = await failureOf(createRegistry({ url: server.url, maxBodyBytes: 1_000_000 }).load(7));
    expect(failure).toMatchObject({ code: "refused", status: 200 });
    expect(failure.message).toMatch(/more than 1000000 bytes \(maxBodyBytes\): .*, raise maxBodyBytes/);
    await gone;
    expect(sent).toBeLessThan(64_000_000);
  });

  test("a small body that unzips beyond the limit is cut there", async () => {
    const server = await serve((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      createGzip()
        .on("data", (chunk) => response.write(chunk))
        .on("end", () => response.end())
        .end(Buffer.alloc(50_000_000, 0x20));
    });
    expect((await failureOf(createRegistry({ url: server.url, maxBodyBytes: 100_000 }).load(7))).message).toContain(
      "more than 100000 bytes",
    );
  });

  test("a body that is not zipped as its header says is named as that: the registry is there, and something changes its answers", async () => {
    const server = await serve((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end('{"schema":"null"}'));
    const failure = await failureOf(createRegistry({ url: server.url, retry: { attempts: 1 } }).load(7));
    expect(failure.code).toBe("unavailable");
    expect(failure.message).toContain("is not compressed as its content-encoding says");
  });

  test("a zipped body within the limit is read", async () => {
    const server = await serve((_, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(JSON.stringify(recordAnswer("Zipped")))),
    );
    expect((await createRegistry({ url: server.url }).load(7)).schema).toContain("Zipped");
  });

  test("an error's body that never ends does not hide its status", async () => {
    const server = await serve((_, response) => {
      const pump = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 0x20))) {}
      };
      response.writeHead(401).on("drain", pump);
      pump();
    });
    expect(await failureOf(createRegistry({ url: server.url }).load(7))).toMatchObject({ code: "refused", status: 401 });
  });

  test.each([
    ["broken JSON", '{"schema":'],
    ["a page", "<html><body>sign in</body></html>"],
    ["nothing", ""],
    ["JSON that is nested without end", "[".repeat(100_000)],
    ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x22])],
    ["a list", "[]"],
    ["null", "null"],
    ["a number", "7"],
    ["no schema", "{}"],
    ["a schema that is not text", '{"schema":{"type":"string"}}'],
  ])("%s is an outage, because no registry says so, and none of it is quoted", async (_, body) => {
    const server = await serve((_request, response) => response.writeHead(200).end(body));
    const failure = await failureOf(createRegistry({ url: server.url, clock: new TestClock() }).load(7));
    expect(failure).toMatchObject({ code: "unavailable", id: 7, isRegistry: false });
    expect(failure.message).not.toContain("sign in");
  });

  test.each([
    ["a type that we do not know", '{"schema":"x","schemaType":"XSD"}'],
    ["references that are no list", '{"schema":"x","references":{"name":"a"}}'],
    ["a reference without a version", '{"schema":"x","references":[{"name":"a","subject":"b"}]}'],
    ["a reference whose version is text", '{"schema":"x","references":[{"name":"a","subject":"b","version":"../../x"}]}'],
  ])("%s is refused, and none of it is quoted", async (_, body) => {
    const server = await serve((_request, response) => response.writeHead(200).end(body));
    const failure = await failureOf(createRegistry({ url: server.url }).load(7));
    expect(failure).toMatchObject({ code: "refused", id: 7 });
    expect(server.requests.length).toBe(1);
  });
});

describe("several urls", () => {
  test("the next one is asked where one is down, and asked first from then on", async () => {
    const down = await serve((_, response) => json(response, 503, {}));
    const up = await serve((_, response) => json(response, 200, recordAnswer("Order")));
    const clock = new TestClock();
    const registry = createRegistry({ urls: [down.url, up.url], clock });
    await registry.load(1);
    await registry.load(2);
    expect([down.requests.length, up.requests.length]).toEqual([1, 2]);
    expect(clock.pauses).toEqual([]);
  });

  test("an answer that says no is an answer", async () => {
    const first = await serve(answers({}));
    const second = await serve(answers({ "/schemas/ids/1": recordAnswer("Elsewhere") }));
    const registry = createRegistry({ urls: [first.url, second.url] });
    expect((await failureOf(registry.load(1))).code).toBe("not-found");
    expect(second.requests.length).toBe(0);
  });

  test("all of them down is told with what each of them said", async () => {
    const one = await serve((_, response) => json(response, 500, {}));
    const two = await serve((_, response) => json(response, 502, {}, { "retry-after": "2" }));
    const clock = new TestClock();
    const retry = { attempts: 2, baseDelayMs: 0 };
    const failure = await failureOf(createRegistry({ urls: [one.url, two.url], clock, retry }).load(1));
    expect(failure.message).toContain("none of 2 urls answered");
    expect(failure.message).toContain("(500)");
    expect(failure.message).toContain("(502)");
    expect(clock.pauses).toEqual([2_000]);
    expect([one.requests.length, two.requests.length]).toEqual([2, 2]);
  });
});
