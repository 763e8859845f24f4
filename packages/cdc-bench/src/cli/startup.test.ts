import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { commands } from "./commands.ts";

const binary = fileURLToPath(new URL("../../bin/cdc-bench.js", import.meta.url));

/** What takes long to load: clients, codecs, and our own packages that are made of many files. */
const heavyModules =
  /\/(?:node_modules\/(?:kafkajs|avsc|ajv|protobufjs|pg|redis|ioredis|mariadb|pino|@msgpack|cborg)|packages\/(?:decode|consumer|testkit|kafkajs|registry))\//;

/** Names each module that is imported, and at the exit each one that was required, on stderr. */
const recordModules = `
  import { createRequire, register } from "node:module";
  import { writeSync } from "node:fs";
  register("data:text/javascript," + encodeURIComponent(\`
    import { writeSync } from "node:fs";
    export async function load(address, context, next) {
      writeSync(2, "loaded " + address + "\\\\n");
      return next(address, context);
    }\`));
  const require = createRequire(process.argv[1]);
  process.on("exit", () => Object.keys(require.cache).forEach((file) => writeSync(2, "loaded " + file + "\\n")));
`;

/** The files that are loaded; of ours, which are bundles, the sources in them. */
function modulesLoadedBy(...args: readonly string[]): readonly string[] {
  const hook = `data:text/javascript,${encodeURIComponent(recordModules)}`;
  const { stderr, status } = spawnSync(process.execPath, ["--import", hook, binary, ...args], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  return stderr.split("\n").flatMap((line) => sourcesIn(/^loaded (?:file:\/\/)?(\/.*)$/.exec(line)?.[1]));
}

function sourcesIn(file: string | undefined): readonly string[] {
  if (file === undefined) {
    return [];
  }
  if (!existsSync(`${file}.map`) || !/\/packages\/[^/]+\/dist\//.test(file)) {
    return [file];
  }
  const { sources } = JSON.parse(readFileSync(`${file}.map`, "utf8")) as { readonly sources: readonly string[] };
  return sources.map((source) => resolve(dirname(file), source));
}

test("--help loads the list of commands, and none of them", () => {
  const modules = modulesLoadedBy("--help");
  expect(modules.some((file) => file.endsWith("/commander/index.js"))).toBe(true); // else it has not looked
  expect(modules.filter((file) => heavyModules.test(file))).toEqual([]);
  const commandModules = commands.map(({ name }) => new RegExp(`/cdc-bench/src/cli/(?:actions/)?${name}\\.ts$`));
  expect(modules.filter((file) => commandModules.some((pattern) => pattern.test(file)))).toEqual([]);
});

test.each(commands.map(({ name }) => name))("%s --help loads its flags alone, and nothing heavy", (name) => {
  const modules = modulesLoadedBy(name, "--help");
  expect(modules.some((file) => file.endsWith(`/cdc-bench/src/cli/${name}.ts`))).toBe(true);
  expect(modules.filter((file) => heavyModules.test(file))).toEqual([]);
});

test("every command is in the list under the name that it has", async () => {
  const { Command } = await import("commander");
  for (const entry of commands) {
    const program = new Command();
    const add = await entry.load();
    add(program, {} as never, () => {});
    expect(program.commands.map((command) => command.name())).toEqual([entry.name]);
  }
});
