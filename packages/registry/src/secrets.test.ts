import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { Endpoint } from "./endpoint.ts";
import { createRegistry, type RegistryOptions } from "./index.ts";
import { answers, json, recordAnswer, serve, TestClock } from "./registry-server.contract.ts";

const username = "canary-user";
const password = "canary-päss:w@rd/42";
const token = "canary.token-aaaa.bbbb";
const apiKey = "canary-api-key";
const basic = Buffer.from(`${username}:${password}`, "utf8").toString("base64");

/** Everything that an error or an object shows to someone who prints it, its causes and hidden fields included. */
function shown(value: unknown): string {
  const causes: string[] = [];
  for (let link = value; link instanceof Error; link = link.cause) {
    causes.push(link.message, link.stack ?? "", JSON.stringify(link), JSON.stringify(link, Object.getOwnPropertyNames(link)));
  }
  return [String(value), JSON.stringify(value), inspect(value, { depth: 20, showHidden: true }), ...causes].join("\n");
}

function expectNoSecret(value: unknown): void {
  const text = shown(value);
  for (const secret of [username, password, encodeURIComponent(password), token, apiKey, basic, "canary"]) {
    expect(text).not.toContain(secret);
  }
}

function withUserinfo(url: string): string {
  return url.replace("://", `://${encodeURIComponent(username)}:${encodeURIComponent(password)}@`);
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail("expected a failure"),
    (error: unknown) => error,
  );
}

describe("credentials reach the registry", () => {
  const variants: readonly [string, (url: string) => RegistryOptions, string][] = [
    ["from the url's userinfo", (url) => ({ url: withUserinfo(url) }), `Basic ${basic}`],
    ["from a URL object", (url) => ({ url: new URL(withUserinfo(url)) }), `Basic ${basic}`],
    ["as auth.basic", (url) => ({ url, auth: { basic: { username, password } } }), `Basic ${basic}`],
    ["as a token", (url) => ({ url, auth: { bearer: token } }), `Bearer ${token}`],
    ["from a function", (url) => ({ url, auth: { bearer: () => token } }), `Bearer ${token}`],
    ["from an async function", (url) => ({ url, auth: { bearer: async () => token } }), `Bearer ${token}`],
    ["from a function that gives a login", (url) => ({ url, auth: { basic: () => ({ username, password }) } }), `Basic ${basic}`],
    ["as a header", (url) => ({ url, headers: { Authorization: token } }), token],
  ];
  test.each(variants)("%s", async (_, options, expected) => {
    const server = await serve(answers({ "/schemas/ids/7": recordAnswer("Order") }));
    const registry = createRegistry({ ...options(server.url), userAgent: "my-service" });
    await registry.load(7);
    expect(server.requests[0]?.headers.authorization).toBe(expected);
    expect(server.requests[0]?.headers["user-agent"]).toBe("my-service");
    expectNoSecret(registry);
    expectNoSecret(registry.stats());
  });

  test("each url with its own, never with another's", async () => {
    const one = await serve((_, response) => json(response, 503, {}));
    const two = await serve(answers({ "/schemas/ids/7": recordAnswer("Order") }));
    await createRegistry({ urls: [withUserinfo(one.url), two.url], clock: new TestClock() }).load(7);
    expect(one.requests[0]?.headers.authorization).toBe(`Basic ${basic}`);
    expect(two.requests[0]?.headers.authorization).toBeUndefined();
  });

  test("a function is asked again for every request, so that an expired token is replaced", async () => {
    const server = await serve((_, response, count) =>
      count === 1 ? json(response, 503, {}) : json(response, 200, recordAnswer("Order")),
    );
    let made = 0;
    await createRegistry({ url: server.url, clock: new TestClock(), auth: { bearer: () => `token-${++made}` } }).load(7);
    expect(server.requests.map((request) => request.headers.authorization)).toEqual(["Bearer token-1", "Bearer token-2"]);
  });
});

test.each(["auth.basic", "auth.bearer"])(
  "credentials that %s gives and the registry refuses are an outage until it gives others",
  async (option) => {
    const fitting = "canary-after-the-rotation";
    let secret = "canary-before-the-rotation";
    const header = (known: string): string =>
      option === "auth.basic" ? `Basic ${Buffer.from(`${username}:${known}`).toString("base64")}` : `Bearer ${known}`;
    const server = await serve((request, response) =>
      request.headers.authorization === header(fitting)
        ? json(response, 200, recordAnswer("Order"))
        : json(response, 401, { error_code: 40101, message: request.headers.authorization }),
    );
    const auth = option === "auth.basic" ? { basic: async () => ({ username, password: secret }) } : { bearer: () => secret };
    const registry = createRegistry({ url: server.url, clock: new TestClock(), auth });
    const refusal = await rejection(registry.load(7));
    expect(refusal).toMatchObject({ code: "unavailable", retriable: true, status: 401 });
    expect(String(refusal)).toContain(`refused the credentials that the function ${option} gave`);
    expectNoSecret(refusal);
    expect(await registry.ping()).toMatchObject([{ ok: false, isPermanent: true }]); // a start says it at once
    secret = fitting;
    expect((await registry.load(7)).id).toBe(7);
  },
);

describe("no credential is ever shown", () => {
  test("of a function that makes tokens the last sixteen are known, and no more are kept", async () => {
    let made = 0;
    const endpoint = new Endpoint("http://localhost:8081", { bearer: () => `made-token-<${++made}>` });
    for (let request = 0; request < 17; request++) {
      await endpoint.requestHeaders();
    }
    const isShown = (number: number): boolean => {
      const error = new Error(`made-token-<${number}>`);
      return endpoint.safeCause(error) === error;
    };
    expect([1, 2, 17].map(isShown)).toEqual([true, false, false]);
  });

  const everyAuth: readonly ((url: string) => RegistryOptions)[] = [
    (url) => ({ url: withUserinfo(url), headers: { "x-api-key": apiKey } }),
    (url) => ({ url, auth: { basic: { username, password } }, headers: { "x-api-key": apiKey } }),
    (url) => ({ url, auth: { bearer: token }, headers: { "x-api-key": apiKey } }),
    (url) => ({ url, auth: { bearer: async () => token }, headers: { "x-api-key": apiKey } }),
    (url) => ({ url, auth: { basic: () => ({ username, password }) }, headers: { "x-api-key": apiKey } }),
  ];

  const statuses = [301, 400, 401, 403, 404, 429, 500, 503];
  test.each(statuses)("by a failure of status %i, also where the server sends back what it got", async (status) => {
    const server = await serve((request, response) => {
      const echo = { error_code: 40101, message: `${request.headers.authorization} ${request.headers["x-api-key"]}` };
      json(response, status, echo, { location: withUserinfo("http://127.0.0.1:9/") });
    });
    for (const options of everyAuth) {
      const registry = createRegistry({ ...options(server.url), clock: new TestClock() });
      expectNoSecret(await rejection(registry.load(7)));
      expectNoSecret(await registry.ping());
      expectNoSecret(registry);
    }
  });

  test("by an answer that is broken, too large or late", async () => {
    const handlers = ["{", " ".repeat(5_000), '{"schema":1}'];
    for (const body of handlers) {
      const server = await serve((request, response) => response.writeHead(200).end(`${body}${request.headers.authorization}`));
      for (const options of everyAuth) {
        expectNoSecret(await rejection(createRegistry({ ...options(server.url), maxBodyBytes: 4_000 }).load(7)));
      }
    }
    const silent = await serve(() => undefined);
    const clock = new TestClock();
    const failing = rejection(createRegistry({ url: withUserinfo(silent.url), clock, retry: { attempts: 1 } }).load(7));
    await silent.arrived(1);
    clock.passDeadlines();
    expectNoSecret(await failing);
  });

  test("by a registry that is gone", async () => {
    const server = await serve(answers({}));
    await server.close();
    for (const options of everyAuth) {
      const { url, ...others } = options(server.url);
      const urls = [url as string, url as string];
      expectNoSecret(await rejection(createRegistry({ ...others, urls, clock: new TestClock() }).load(7)));
    }
  });

  test("by a fetch that hangs the request on its error", async () => {
    const fetch = async (address: string | URL | Request, init?: RequestInit): Promise<Response> => {
      throw Object.assign(new Error("failed"), { address, config: { deep: { init } }, cause: new Error(JSON.stringify(init?.headers)) });
    };
    for (const options of everyAuth) {
      const failure = await rejection(createRegistry({ ...options("http://registry.test"), fetch, clock: new TestClock() }).load(7));
      expect((failure as Error).cause).toEqual(new Error("the cause is withheld because it held credentials"));
      expectNoSecret(failure);
    }
  });

  test("by a function that fails to make a token, or makes one that no header can hold", async () => {
    const bearers = [
      () => Promise.reject(new Error(`refused for client_secret=${token}`)),
      () => Promise.reject(token),
      () => `${token}\r\nx: y`,
      () => "",
      () => undefined as unknown as string,
    ];
    for (const bearer of bearers) {
      const failure = await rejection(createRegistry({ url: "http://127.0.0.1:9", auth: { bearer }, clock: new TestClock() }).load(7));
      expectNoSecret(failure);
      expect((failure as Error).message).toContain("auth.bearer");
    }
    const logins = [
      () => Promise.reject(new Error(`refused for ${password}`)),
      () => ({ username: `${username}:x`, password }),
      () => ({ username }) as never,
      () => null as never,
    ];
    for (const login of logins) {
      const failure = await rejection(
        createRegistry({ url: "http://127.0.0.1:9", auth: { basic: login }, clock: new TestClock() }).load(7),
      );
      expectNoSecret(failure);
      expect((failure as Error).message).toContain("auth.basic");
    }
  });

  test("by options that are wrong", () => {
    const wrong: readonly RegistryOptions[] = [
      { url: `registry:${password}@nowhere` },
      { url: `ftp://${username}:${token}@host` },
      { url: `http://${username}:${token}@host:notaport` },
      { url: `http://host/?apikey=${token}` },
      { url: `http://${username}:%zz@host` },
      { url: withUserinfo("http://host"), auth: { bearer: token } },
      { url: withUserinfo("http://host"), headers: { authorization: token } },
      { url: "http://host", auth: { bearer: token }, headers: { AUTHORIZATION: token } },
      { url: "http://host", auth: { bearer: `${token}\n` } },
      { url: "http://host", auth: { basic: { username: `${username}:x`, password } } },
      { url: "http://host", headers: { "x-api-key": `${apiKey}\u2028` } },
    ];
    for (const options of wrong) {
      try {
        createRegistry(options);
        expect.fail(`expected ${inspect(options)} to be refused`);
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError);
        expectNoSecret(error);
      }
    }
  });
});
