import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { runProgram } from "./program.ts";

/** Takes connections and answers nothing. */
const sockets = new Set<Socket>();
const server = createServer((socket) => sockets.add(socket.on("error", () => {})));

beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
});
afterAll(() => {
  sockets.forEach((socket) => socket.destroy());
  server.close();
});

test.each([
  ["run", "--topics", "t"],
  ["run", "--topics", "t", "--processes", "2"],
  ["inspect", "--topics", "t"],
  ["compare", "--topics", "t"],
  ["doctor", "--topics", "t"],
  ["offsets", "--group", "g"],
  ["redrive", "--topic", "t"],
  ["produce", "--rows", "10"],
  ["drain"],
  ["sweep"],
  ["soak"],
  ["roundtrip"],
])("%s that is interrupted while the brokers do not answer ends at once, with exit code 130", async (...args) => {
  const interrupt = new AbortController();
  const terminal = { stdout: new PassThrough(), stderr: new PassThrough(), liveLine: false, env: {}, interrupt: interrupt.signal };
  const asked = once(server, "connection");
  const running = runProgram([...args, "--brokers", `127.0.0.1:${(server.address() as AddressInfo).port}`], terminal);
  await asked;
  interrupt.abort();
  expect(await running).toBe(exitCodes.interrupted);
});
