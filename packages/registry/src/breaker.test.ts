import { expect, test } from "vitest";
import { createRegistry } from "./registry.ts";
import { failureOf, json, recordAnswer, serve, TestClock } from "./registry-server.contract.ts";

const options = { retry: { attempts: 1 }, random: () => 0 };

test("an address that is down gets no more requests after so many, and then one shows whether it is back", async () => {
  let isDown = true;
  const server = await serve((_, response) => (isDown ? json(response, 503, {}) : json(response, 200, recordAnswer("Back"))));
  const clock = new TestClock();
  const registry = createRegistry({ ...options, url: server.url, clock, breaker: { failures: 3, coolDownMs: 60_000 } });
  for (const id of [1, 2, 3]) {
    expect((await failureOf(registry.load(id))).status).toBe(503);
  }
  const error = await failureOf(registry.load(4));
  expect(error.code).toBe("unavailable");
  expect(error.message).toContain("not asked for another 60000 ms");
  expect(server.paths).toHaveLength(3);

  clock.advance(60_000);
  expect((await failureOf(registry.load(5))).status).toBe(503); // still down: the cool-down begins again
  await failureOf(registry.load(6));
  expect(server.paths).toHaveLength(4);

  clock.advance(60_000);
  isDown = false;
  expect((await registry.load(7)).schema).toContain("Back");
  expect((await registry.load(8)).schema).toContain("Back");
});

test("while one request shows whether an address is back, no other is sent", async () => {
  const waiting: (() => void)[] = [];
  const server = await serve((_, response, count) => {
    if (count <= 2) {
      json(response, 500, {});
    } else {
      waiting.push(() => json(response, 200, recordAnswer("Back")));
    }
  });
  const clock = new TestClock();
  const registry = createRegistry({ ...options, url: server.url, clock, breaker: { failures: 2, coolDownMs: 60_000 } });
  await failureOf(registry.load(1));
  await failureOf(registry.load(2));
  clock.advance(60_000);
  const first = registry.load(3);
  await server.arrived(3);
  expect((await failureOf(registry.load(4))).message).toContain("is not asked for another");
  waiting.forEach((answer) => answer());
  expect((await first).schema).toContain("Back");
  expect(server.paths).toHaveLength(3);
});

test("what is missing or refused is an answer, and opens no breaker", async () => {
  const server = await serve((_, response, count) => json(response, count % 2 === 0 ? 404 : 401, { error_code: 40403 }));
  const registry = createRegistry({ ...options, url: server.url, breaker: { failures: 1 } });
  for (const id of [1, 2, 3, 4]) {
    await failureOf(registry.load(id));
  }
  expect(server.paths).toHaveLength(4);
});

test("the next address is asked while the first is left alone", async () => {
  const down = await serve((_, response) => json(response, 503, {}));
  const up = await serve((_, response) => json(response, 200, recordAnswer("Up")));
  const registry = createRegistry({ ...options, urls: [down.url, up.url], breaker: { failures: 1 } });
  await registry.load(1);
  await registry.load(2);
  expect([down.paths.length, up.paths.length]).toEqual([1, 2]);
});

test("an address that hangs holds up no load for longer than two time-outs if another one answers", async () => {
  const hanging = await serve(() => {});
  const up = await serve((_, response) => json(response, 200, recordAnswer("Up")));
  const clock = new TestClock();
  const urls = [hanging.url, up.url];
  const registry = createRegistry({ ...options, urls, clock, concurrency: 2, breaker: { failures: 2, coolDownMs: 60_000 } });
  let loaded = 0;
  const loads = Promise.all(Array.from({ length: 20 }, (_, id) => registry.load(id).then(() => loaded++)));
  await hanging.arrived(2);
  clock.passDeadlines();
  await expect.poll(() => loaded + hanging.paths.length - 2).toBe(20); // no answer of the other one is on its way
  clock.passDeadlines();
  await loads;
  expect(hanging.paths.length).toBeLessThanOrEqual(4);
  expect(up.paths).toHaveLength(20);
});

test("loads that wait for their turn ask no address whose breaker has opened in the meantime", async () => {
  const hanging = await serve(() => {});
  const clock = new TestClock();
  const breaker = { failures: 2, coolDownMs: 60_000 };
  const registry = createRegistry({ ...options, url: hanging.url, clock, concurrency: 2, breaker });
  const loads = Array.from({ length: 20 }, (_, id) => failureOf(registry.load(id)));
  await hanging.arrived(2);
  clock.passDeadlines();
  await Promise.all(loads.slice(3));
  clock.passDeadlines();
  expect((await Promise.all(loads)).map(({ code }) => code)).toEqual(loads.map(() => "unavailable"));
  expect(hanging.paths.length).toBeLessThanOrEqual(4);
});

test("a reachability check does not wait for the loads", async () => {
  const server = await serve((request, response) => {
    if (request.url === "/schemas/types") {
      json(response, 200, ["AVRO"]);
    }
  });
  const clock = new TestClock();
  const registry = createRegistry({ ...options, url: server.url, clock, concurrency: 1 });
  const load = failureOf(registry.load(1));
  await server.arrived(1);
  expect(await registry.ping()).toMatchObject([{ ok: true }]);
  await registry.close();
  await load;
});
