import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build, type BuildOptions } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";

const here = fileURLToPath(new URL(".", import.meta.url));
const run = promisify(execFile);

/** A service in one file, which tells how its start failed: nothing listens at its broker. */
const service = `
import { createConsumer } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
const consumer = createConsumer({ driver: kafkajs({ brokers: ["127.0.0.1:1"] }), groupId: "g", topics: ["t"], logger: false });
consumer.on("*", () => {});
consumer.run().catch((error) => console.log(error.message));
`;

/** A test of a handler in one file, with what such a test needs. */
const handlerTest = `
import { createConsumer } from "@cdckit/consumer";
import { bundledRecordings, memory } from "@cdckit/testkit";
const driver = memory({ topics: { t: 1 } });
driver.broker.append("t", { value: '{"id":1,"__op":"c"}' });
const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], signals: false });
consumer.on("t", { create: ({ after }) => { console.log(after.id); void consumer.stop(); } });
consumer.run().then(() => { try { bundledRecordings(); } catch (error) { console.log(error.message); } });
`;

/** A service with workers in one file. */
const threads = `
import { createConsumer } from "@cdckit/consumer";
const module = "file:///no-such-module.mjs";
createConsumer({ workers: 1, module, groupId: "g", topics: ["t"], logger: false }).run().catch((error) => console.log(error.message));
`;

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(here, ".bundled-"));
  writeFileSync(join(dir, "service.mjs"), service);
  writeFileSync(join(dir, "handler-test.mjs"), handlerTest);
  writeFileSync(join(dir, "threads.mjs"), threads);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** What the bundle says when it runs. */
async function saidBy(file: string, options: BuildOptions): Promise<string> {
  const outfile = join(dir, file);
  await build({
    entryPoints: [join(dir, "service.mjs")],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    conditions: ["@cdckit/source"],
    logLevel: "silent",
    ...options,
  });
  return (await run(process.execPath, [outfile], { env: {} })).stdout;
}

const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" };

test("a bundle of ES modules without a require says that kafkajs wants one, and what to give esbuild", async () => {
  const said = await saidBy("plain.mjs", { format: "esm" });
  expect(said).toMatch(/^\[kafkajs-missing\] the package kafkajs cannot be loaded: Dynamic require of "\w+" is not supported/);
  expect(said).toContain("--external:kafkajs");
  expect(said).toContain(banner.js);
});

test.each<[string, BuildOptions]>([
  ["handler-test.bundle.cjs", { format: "cjs" }],
  ["handler-test.bundle.mjs", { format: "esm", banner }],
])("a bundle of a handler's test, %s, runs, and says where the recordings are that it does not have", async (file, options) => {
  const said = await saidBy(file, { entryPoints: [join(dir, "handler-test.mjs")], ...options });
  expect(said).toBe("1\nthe recordings are files of @cdckit/testkit: leave it out of the bundle (esbuild: --external:@cdckit/testkit)\n");
});

test.each<[string, BuildOptions]>([
  ["threads.bundle.cjs", { format: "cjs" }],
  ["threads.bundle.mjs", { format: "esm", banner }],
])("a bundle of workers, %s, says that the program of the threads is not in it, and what to leave out", async (file, options) => {
  const said = await saidBy(file, { entryPoints: [join(dir, "threads.mjs")], ...options });
  expect(said).toMatch(/^\[worker-failed\] .*--external:@cdckit\/consumer/);
});

test.each<[string, string, BuildOptions]>([
  ["with kafkajs left out", "external.mjs", { format: "esm", external: ["kafkajs"] }],
  ["with a require", "banner.mjs", { format: "esm", banner }],
  ["to CommonJS", "bundle.cjs", { format: "cjs" }],
])("a bundle %s connects", async (_name, file, options) => {
  expect(await saidBy(file, options)).toMatch(/^\[brokers-unreachable\] cannot reach brokers 127\.0\.0\.1:1/);
});
