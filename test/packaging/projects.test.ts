/**
 * The packed packages in projects as users have them: `npm run test:packages`. Not in `npm test`, because other versions of Node, Jest,
 * Bun and Deno come from npm, and starting all of them takes a minute.
 */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { build, type BuildOptions } from "esbuild";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fetchedPackages, nodeBinary, noOtherNode } from "../../scripts/fetched-packages.mjs";
import { pack } from "../../scripts/tarballs.mjs";
import { createTopics, type Found, type SharedKafka, uniqueName, withKafka } from "../integration/stack.ts";
import { closureOf, installTarballs } from "./tarballs.ts";

const isAskedFor = process.env["PACKAGES_IN_PROJECTS"] === "1";
const skipReason = "these projects need other versions of Node, Jest, Bun and Deno from npm: npm run test:packages";
const kafka: Found<SharedKafka> = isAskedFor ? await withKafka() : { skip: skipReason };

const run = promisify(execFile);
const here = import.meta.dirname;
const oldestNode = "20.19.0";

/** `this` is the Node that runs the tests: where no other can be had, it is the only one. */
const nodes = noOtherNode === "" ? [oldestNode, "22.23.3", "24.21.0"] : ["this"];
const compilers = ["5.9.3", "6.0.3", "7.0.2"];
const tools = {
  jest: { jest: "30.5.2", "@swc/core": "1.16.22", "@swc/jest": "0.2.39" },
  runtimes: { bun: "1.4.4", deno: "2.9.6" },
} as const;

type Environment = Readonly<Record<string, string>>;

if (isAskedFor) {
  describe("the packed packages do the same", inProjects);
} else {
  test("the packed packages do the same in projects of users", (context) => context.skip(skipReason));
}

function inProjects(): void {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "cdckit-projects-"));
  /** The npm project that everything is run in: its packages are what npm has installed. */
  const app = join(folder, "app");
  let environment: Environment = {};
  /** What the packages say in the process of the tests. */
  let expected = "";

  beforeAll(async () => {
    installTarballs(pack(closureOf(["cdckit", "kafkajs", "@cdckit/testkit"]), join(folder, "tarballs")), app);
    cpSync(join(here, "projects"), app, { recursive: true });
    if (kafka.skip === false) {
      environment = { KAFKA_BROKERS: kafka.part.brokers, KAFKA_TOPIC: await filledTopic(kafka.part.brokers) };
    }
    expected = await printedBy(process.execPath, ["project.mjs"]);
    expect(JSON.parse(expected)).toMatchObject({ recording: [1, 2, 3, 4, 5], ...(kafka.skip === false && { kafka: [1, 2, 3, 4, 5] }) });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** What a process prints: it ends with code 0, and says nothing on stderr that is no warning. */
  async function printedBy(command: string, args: readonly string[], more: Environment = {}): Promise<string> {
    const env = { PATH: process.env["PATH"], HOME: folder, ...environment, ...more };
    return (await run(command, args, { cwd: app, env })).stdout.trim();
  }

  const node = (version: string): string => (version === "this" ? process.execPath : nodeBinary(version));

  describe.each(nodes)("on Node %s", (version) => {
    test.each(["project.mjs", "project.cjs"])("%s", async (file) => {
      expect(await printedBy(node(version), [file])).toBe(expected);
    });
  });

  describe.each(nodes)("in Jest on Node %s", (version) => {
    beforeAll(() => linkInto(join(app, "node_modules"), fetchedPackages("jest", tools.jest), ["jest", "babel-jest", "@swc/jest"]));

    const jest = (file: string, options: readonly string[], flags: readonly string[] = []): Promise<string> =>
      printedBy(node(version), [...flags, "node_modules/jest/bin/jest.js", "--ci", "--rootDir", "jest", ...options, file], {
        EXPECTED: expected,
      });

    test.each(["required.test.cjs", "typed.test.cts"])("%s, with the transform of the documents", async (file) => {
      await jest(file, ["--config", "jest/jest.config.cjs"]);
    });

    test("imported.test.mjs, with the flag for ES modules", async () => {
      await jest("imported.test.mjs", ["--config", "{}"], ["--experimental-vm-modules"]);
    });

    if (version.startsWith("24.")) {
      test("required.test.cjs, with the flag for ES modules and no transform", async () => {
        await jest("required.test.cjs", ["--config", "{}"], ["--experimental-vm-modules"]);
      });
    }
  });

  describe.each(compilers)("compiled by TypeScript %s", (version) => {
    const modes = [
      { type: "module", options: ["--module", "nodenext"] },
      { type: "commonjs", options: ["--module", "nodenext"] },
      { type: "module", options: ["--module", "esnext", "--moduleResolution", "bundler"] },
      { type: "commonjs", options: ["--module", "commonjs"] },
    ] as const;

    test.each(modes)("as $type, $options", async ({ type, options }) => {
      const project = join(app, `typescript-${version}-${type}-${options.at(-1)}`);
      mkdirSync(project);
      writeFileSync(join(project, "package.json"), JSON.stringify({ type }));
      cpSync(join(here, "projects/typed.ts"), join(project, "typed.ts"));
      linkInto(join(app, "node_modules"), join(here, "../../node_modules"), ["@types/node"]);
      const compiler = join(fetchedPackages(`typescript-${version}`, { typescript: version }), "typescript/bin/tsc");
      const strict = ["--strict", "--skipLibCheck", "false", "--target", "es2022", "--types", "node", "--noEmitOnError"];
      await printedBy(process.execPath, [compiler, ...strict, ...options, join(project, "typed.ts")]).catch(complain);
      expect(await printedBy(process.execPath, [join(project, "typed.js")])).toBe("products\ntruncated");
    });
  });

  const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" };

  test.each<[string, BuildOptions]>([
    ["bundle.mjs", { format: "esm", external: ["@cdckit/testkit", "kafkajs"] }],
    ["banner.mjs", { format: "esm", external: ["@cdckit/testkit"], banner }],
    ["bundle.cjs", { format: "cjs", external: ["@cdckit/testkit"] }],
  ])("bundled by esbuild into %s", async (file, options) => {
    const entryPoints = [options.format === "cjs" ? "project.cjs" : "project.mjs"];
    await build({ absWorkingDir: app, entryPoints, outfile: file, bundle: true, platform: "node", logLevel: "silent", ...options });
    expect(await printedBy(node(nodes[0] ?? "this"), [file])).toBe(expected);
  });

  describe.each([
    { name: "bun", args: [] },
    { name: "deno", args: ["run", "--allow-net", "--allow-read", "--allow-env", "--allow-sys"] },
  ])("on $name", ({ name, args }) => {
    test.each(["project.mjs", "project.cjs"])("%s", async (file) => {
      const binary = join(fetchedPackages("runtimes", tools.runtimes), ".bin", name);
      expect(await printedBy(binary, [...args, file], { DENO_NO_UPDATE_CHECK: "1" })).toBe(expected);
    });
  });
}

/** A topic with records in plain JSON. */
async function filledTopic(brokers: string): Promise<string> {
  const client = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING });
  const [admin, producer] = [client.admin(), client.producer({ createPartitioner: () => () => 0 })];
  await Promise.all([admin.connect(), producer.connect()]);
  const topic = uniqueName("projects");
  await createTopics(admin, [{ topic }]);
  await producer.send({ topic, messages: [1, 2, 3, 4, 5].map((id) => ({ key: `{"id":${id}}`, value: `{"id":${id},"__op":"c"}` })) });
  await Promise.all([admin.disconnect(), producer.disconnect()]);
  return topic;
}

/** Packages of another `node_modules`, as if npm had installed them here. */
function linkInto(modules: string, from: string, names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    rmSync(join(modules, name), { force: true });
    symlinkSync(dirname(createRequire(join(from, "x.js")).resolve(`${name}/package.json`)), join(modules, name));
  }
}

/** Compilers complain on stdout, which an error of `execFile` does not show. */
function complain(error: unknown): never {
  throw new Error((error as { readonly stdout?: string }).stdout ?? String(error), { cause: error });
}
