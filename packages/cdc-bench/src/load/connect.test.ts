import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { firstCauseOf, openConnect } from "./connect.ts";

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** What listens where Connect should be. */
async function serve(answer: RequestListener, port = 0): Promise<number> {
  server = createServer(answer);
  await new Promise<void>((resolve) => server?.listen(port, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const trace = `org.apache.kafka.connect.errors.ConnectException: An exception occurred in the change event producer.
	at io.debezium.pipeline.ErrorHandler.setProducerThrowable(ErrorHandler.java:67)
Caused by: io.debezium.DebeziumException: Creation of replication slot failed
	... 5 more
Caused by: org.postgresql.util.PSQLException: ERROR: all replication slots are in use
	at org.postgresql.core.v3.QueryExecutorImpl.receiveErrorResponse(QueryExecutorImpl.java:2733)`;

describe("a failed connector", () => {
  test("is told with the first cause of its task's trace", async () => {
    const tasks = [{ id: 0, state: "FAILED", trace }];
    const port = await serve((_, response) => response.end(JSON.stringify({ connector: { state: "RUNNING" }, tasks })));
    expect(await openConnect({ url: `http://127.0.0.1:${port}` }).status("x")).toEqual({
      state: "FAILED",
      cause: "org.postgresql.util.PSQLException: ERROR: all replication slots are in use",
    });
  });

  test("without a trace, or with a hostile one, gives one bounded line", () => {
    expect(firstCauseOf("")).toBe("no reason given");
    expect(firstCauseOf(`Caused by: \u001b[31m${"x".repeat(5_000)}`)).toMatch(/^\s?\[31mx{400,500}$/);
  });
});

describe("a Connect that is away", () => {
  test("for a while is waited for, and told of twice", async () => {
    const port = await serve((_, response) => response.end('{"version":"4.3.1"}'));
    const said: string[] = [];
    const connect = openConnect({ url: `http://127.0.0.1:${port}`, onWait: (sentence) => void said.push(sentence) });
    await connect.info();
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
    const asked = connect.status("x");
    await expect.poll(() => said).toEqual([expect.stringMatching(/does not answer: waiting for it, 120 s at most$/)]);
    await serve((_, response) => response.end('{"connector":{"state":"RUNNING"},"tasks":[{"state":"RUNNING"}]}'), port);
    expect(await asked).toEqual({ state: "RUNNING", cause: null });
    expect(said[1]).toMatch(/answers again$/);
  });

  test("during a rebalance is asked again", async () => {
    let asked = 0;
    const port = await serve((_, response) => {
      response.statusCode = ++asked === 1 ? 409 : 204;
      response.end();
    });
    const said: string[] = [];
    await openConnect({ url: `http://127.0.0.1:${port}`, onWait: (sentence) => void said.push(sentence) }).delete("x");
    expect(asked).toBe(2);
    expect(said[0]).toContain("is rebalancing");
  });

  test("from the start is an error at once, and one that stays away after its time", async () => {
    await expect(openConnect({ url: "http://127.0.0.1:1" }).info()).rejects.toMatchObject({
      code: "connection",
      detail: expect.stringContaining("Kafka Connect at http://127.0.0.1:1 does not answer. Is it running"),
    });
    const port = await serve((_, response) => {
      response.statusCode = 503;
      response.end();
    });
    await expect(openConnect({ url: `http://127.0.0.1:${port}`, maxAwayMs: 0 }).status("x")).rejects.toThrow(
      /is starting for 0 s|is starting/,
    );
  });
});

describe("what is no Connect", () => {
  test("a page is refused with the question whether the address is right", async () => {
    const port = await serve((_, response) => response.end("<html>"));
    await expect(openConnect({ url: `http://127.0.0.1:${port}` }).info()).rejects.toThrow(/does not answer as Kafka Connect does/);
  });

  test("a login that is refused is told without it, and is sent as it was given", async () => {
    let header: string | undefined;
    const port = await serve((request, response) => {
      header = request.headers.authorization;
      response.statusCode = 401;
      response.end();
    });
    const refused = openConnect({ url: `http://me:se%40cret@127.0.0.1:${port}/` }).info();
    await expect(refused).rejects.toThrow(/refuses the login/);
    await expect(refused).rejects.not.toThrow(/cret/);
    expect(Buffer.from(header?.replace("Basic ", "") ?? "", "base64").toString()).toBe("me:se@cret");
  });
});
