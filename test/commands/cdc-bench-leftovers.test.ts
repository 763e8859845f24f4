import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type Server } from "node:tls";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { freePorts } from "../../scripts/stack/ports.mjs";
import { missingForRedis, startRedis, type TestRedis } from "./redis-server.ts";
import { selfSigned } from "../integration/self-signed.ts";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "cdckit-leftovers-"));
const certificate = selfSigned("redis");
const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
writeFileSync(files.cert, certificate.cert);
writeFileSync(files.key, certificate.key, { mode: 0o600 });
const password = "canary-password";
const trusting = { NODE_EXTRA_CA_CERTS: files.cert };

afterAll(() => rmSync(folder, { recursive: true }));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function roundtrip(args: readonly string[], env: Readonly<Record<string, string>>, killWhen?: RegExp): Promise<Ended> {
  const child = spawn(process.execPath, [binary, "roundtrip", "--via", "redis", ...args], {
    env: { PATH: process.env["PATH"], XDG_STATE_HOME: folder, REDIS_PASSWORD: password, ...env },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
    if (killWhen?.test(stderr) === true) {
      child.kill("SIGKILL");
    }
  });
  const [code] = (await once(child, "close")) as [number | null];
  expect(`${stdout}${stderr}`).not.toContain(password);
  return { code, stdout, stderr };
}

/** What a run leaves that was killed after it had written down so many keys. Gives the folder for XDG_STATE_HOME. */
function killedRun(at: string, keys: number): string {
  const home = mkdtempSync(join(folder, "state-"));
  const { pid } = spawnSync(process.execPath, ["--version"]);
  const run = {
    version: 1,
    pid,
    processIdentity: "an earlier boot/1",
    host: hostname(),
    command: "roundtrip",
    startedAt: "2026-01-01T00:00:00.000Z",
  };
  const things = Array.from({ length: keys }, (_, slot) => ({ making: { kind: "redis-key", name: `cdc-bench-roundtrip-x:${slot}`, at } }));
  mkdirSync(join(home, "cdc-bench"));
  writeFileSync(join(home, "cdc-bench", "run.ndjson"), [run, ...things].map((line) => JSON.stringify(line)).join("\n"));
  return home;
}

describe("keys that a killed run left in a Redis with TLS", () => {
  let server: Server;
  let address: string;
  let connections: number;
  let commands: (readonly string[])[];

  beforeEach(async () => {
    [connections, commands] = [0, []];
    // Real Redis is asked below, on machines that have one.
    server = createServer(certificate, (socket) => {
      socket.on("error", () => {}); // the other side may go without a word
      socket.on("data", (chunk: Buffer) => {
        for (const command of chunk
          .toString()
          .split(/^\*\d+\r\n/m)
          .slice(1)) {
          const words = command.split("\r\n").filter((_, i) => i % 2 === 1);
          commands.push(words);
          socket.write(words[0] === "UNLINK" ? ":1\r\n" : "+OK\r\n");
        }
      });
    });
    server.on("connection", () => connections++);
    server.on("tlsClientError", () => {}); // it does not trust the certificate
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterEach(() => {
    server.close();
  });

  test("are deleted through one encrypted connection with one login", async () => {
    const home = killedRun(`rediss://${address}`, 300);
    const { code, stdout, stderr } = await roundtrip(["--redis", `rediss://me@${address}`, "--clean"], {
      ...trusting,
      XDG_STATE_HOME: home,
    });
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout.match(/^removed redis key/gm)).toHaveLength(300);
    expect(connections).toBe(1);
    expect(commands.slice(0, 2)).toEqual([
      ["AUTH", "me", password],
      ["UNLINK", "cdc-bench-roundtrip-x:299"],
    ]);
    expect(commands).toHaveLength(301);
  });

  test("stay if its certificate is not trusted, and it is sent nothing", async () => {
    const home = killedRun(`rediss://${address}`, 20);
    const { code, stderr } = await roundtrip(["--redis", `rediss://me@${address}`, "--clean"], { XDG_STATE_HOME: home });
    expect(stderr).toContain("shows a certificate that is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT): NODE_EXTRA_CA_CERTS names");
    expect(stderr.match(/^could not remove (?:redis key \S+ at \S+,? ){5}and 15 more: /gm)).toHaveLength(1);
    expect([code, connections, commands]).toEqual([3, 1, []]);
  });
});

const missing = missingForRedis();

describe.skipIf(missing !== "")(`a real Redis with TLS${missing === "" ? "" : ` (skipped: ${missing})`}`, () => {
  const few = ["--rounds", "10", "--warmup", "2", "--quick", "--no-evolve", "--codecs", "json", "--in-flight", "64", "--json"];
  let redis: TestRedis;
  let at: readonly string[];

  beforeAll(async () => {
    const [port = 0] = await freePorts(1);
    const tls = { "tls-port": String(port), "tls-cert-file": files.cert, "tls-key-file": files.key, "tls-auth-clients": "no" };
    redis = await startRedis("--tls-ca-cert-file", files.cert, ...Object.entries(tls).flatMap(([name, value]) => [`--${name}`, value]));
    // DEL and SELECT are rights that a run does not need.
    await redis.ask("ACL", "SETUSER", "me", "on", `>${password}`, "~cdc-bench-*", "+@all", "-del", "-select");
    at = ["--redis", `rediss://me@127.0.0.1:${port}`];
  });

  afterAll(() => redis.stop());

  test("keeps no key of a run, which needs few connections for that", async () => {
    const { code, stderr } = await roundtrip([...at, ...few], trusting);
    expect(code, stderr).toBe(0);
    expect(stderr).not.toContain("could not remove");
    expect(await redis.ask("DBSIZE")).toMatch(/^:0\r\n/);
    const [, received] = /total_connections_received:(\d+)/.exec(await redis.ask("INFO", "stats")) ?? [];
    expect(Number(received)).toBeLessThan(16);
  });

  test("loses the keys of a killed run by --clean, if its certificate is trusted", async () => {
    const env = { ...trusting, XDG_STATE_HOME: join(folder, "killed") };
    await roundtrip([...at, "--duration", "10m", "--codecs", "json", "--quick"], env, /one at a time, [\d,]+ rounds/);
    expect(await redis.ask("DBSIZE")).not.toMatch(/^:0\r\n/);
    const distrusting = await roundtrip([...at, "--clean"], { XDG_STATE_HOME: env.XDG_STATE_HOME });
    expect(distrusting).toMatchObject({ code: 3, stderr: expect.stringContaining("a certificate that is not trusted") });
    const cleaned = await roundtrip([...at, "--clean"], env);
    expect(cleaned.code, cleaned.stderr).toBe(0);
    expect(await redis.ask("DBSIZE")).toMatch(/^:0\r\n/);
  });
});
