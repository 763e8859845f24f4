import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pack, type PackageFolder, publishedPackages } from "../../scripts/tarballs.mjs";
import { closureOf, installTarballs, measureInstalled, root } from "./tarballs.ts";

const isBuilt = publishedPackages().every(({ path }) => existsSync(join(path, "dist/index.js")));
const skipReason = "the packages are not built: run `npm test`, or `npm run build` first";

const names = [
  "cdckit",
  "@cdckit/decode",
  "@cdckit/registry",
  "@cdckit/consumer",
  "@cdckit/kafkajs",
  "@cdckit/driver",
  "@cdckit/record-batch",
];

/** What each package exports. */
type Names = Readonly<Record<string, readonly string[]>>;

/** Runs a tool and hands back everything that it printed, or fails with it. */
function run(command: string, args: readonly string[], folder: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: "utf8", env: { ...process.env, FORCE_COLOR: "0" } });
  expect(status, `${stdout}\n${stderr}`).toBe(0);
  return stdout;
}

describe.skipIf(!isBuilt)("the packages as users install them", { meta: { skipReason } }, () => {
  const temporary = mkdtempSync(join(tmpdir(), "cdckit-packed-"));
  const app = join(temporary, "app");
  let ours: readonly string[] = [];
  let imported: Names = {};
  let required: Names = {};

  beforeAll(() => {
    const published = publishedPackages();
    const closure = closureOf(["cdckit", "kafkajs"]);
    // Each once: ours are in both lists.
    const folders = [...new Map([...published, ...closure].map((one) => [one.path, one])).values()];
    const tarballs = pack(folders, join(temporary, "tarballs"));
    const tarballOf = ({ path }: PackageFolder): string => tarballs[folders.findIndex((one) => one.path === path)] ?? "";
    ours = published.map(tarballOf);
    installTarballs(closure.map(tarballOf), app);
    imported = namesBy(
      "--input-type=module",
      `const all = {}; for (const name of ${JSON.stringify(names)}) { all[name] = Object.keys(await import(name)).sort(); }`,
    );
    required = namesBy(
      "--input-type=commonjs",
      `const all = {}; for (const name of ${JSON.stringify(names)}) {
        all[name] = Object.keys(require(name)).filter((key) => key !== "__esModule" && key !== "module.exports").sort();
      }`,
    );
  });

  /** What a process that makes `all` finds in it. */
  function namesBy(inputType: string, makesAll: string): Names {
    return JSON.parse(run(process.execPath, [inputType, "-e", `${makesAll} console.log(JSON.stringify(all));`], app)) as Names;
  }

  afterAll(() => rmSync(temporary, { recursive: true, force: true }));

  for (const name of names) {
    test(`${name} is imported and required, and gives the same names`, () => {
      expect(required[name]).toEqual(imported[name]);
      expect(imported[name]?.length).toBeGreaterThan(0);
    });
  }

  test("cdckit gives what its parts give", () => {
    const script = `
      const parts = await Promise.all(["@cdckit/decode", "@cdckit/registry", "@cdckit/consumer", "@cdckit/kafkajs"].map((name) => import(name)));
      const all = await import("cdckit");
      const wanted = ["createDecoder", "createRegistry", "createConsumer", "kafkajs"];
      console.log(wanted.filter((name) => all[name] === undefined || !parts.some((part) => part[name] === all[name])).join());`;
    expect(run(process.execPath, ["--input-type=module", "-e", script], app).trim()).toBe("");
  });

  test("errors and modules are printed under the names that they are exported by", () => {
    const script = `
      const isNamed = (value) => typeof value === "function" && (value.prototype instanceof Error || /Module$/.test(value.name));
      for (const name of ${JSON.stringify(publishedPackages().map(({ manifest }) => manifest.name))}) {
        for (const [exported, value] of Object.entries(await import(name))) {
          if (isNamed(value) && value.name !== exported) console.log(name, exported, "is named", value.name);
        }
      }`;
    expect(run(process.execPath, ["--input-type=module", "-e", script], root).trim()).toBe("");
  });

  test("neither decoding nor consuming brings a dependency of others", () => {
    const names = closureOf(["@cdckit/decode", "@cdckit/registry", "@cdckit/consumer"]).map(({ manifest }) => manifest.name);
    expect(names.sort()).toEqual(["@cdckit/consumer", "@cdckit/decode", "@cdckit/registry"]);
  });

  test("@cdckit/json-schema checks values if it is installed beside", () => {
    const folder = join(temporary, "with-json-schema");
    installTarballs(pack(closureOf(["@cdckit/json-schema"]), join(temporary, "more-tarballs")), folder);
    const script = `
      import { createDecoder } from "@cdckit/decode";
      import { jsonSchemaValidator } from "@cdckit/json-schema";
      const registered = { id: 1, schemaType: "JSON", schema: '{"type":"object","properties":{"id":{"pattern":"^(a+)+$"}}}' };
      const decoder = createDecoder({ schemas: { peek: () => registered, load: async () => registered }, jsonSchemaValidator });
      const record = { topic: "t", partition: 0, offset: 0n, timestamp: 0n, headers: [], key: null };
      const value = Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), Buffer.from('{"id":"b"}')]);
      try { await decoder.decode({ ...record, value }); } catch (error) { console.log(error.code); }`;
    expect(run(process.execPath, ["--input-type=module", "-e", script], folder).trim()).toBe("value-invalid");
  });

  test("`npm install cdckit kafkajs` stays within its budgets", () => {
    const { packages, files, bytes } = measureInstalled(app);
    const modules = modulesOfImport();
    const times = Array.from({ length: 3 }, () => Number(run(process.execPath, ["--input-type=module", "-e", timedImport], app)));
    console.log(
      `npm install cdckit kafkajs: ${packages} packages, ${files} files, ${(bytes / 1e6).toFixed(1)} MB; ` +
        `import "cdckit": ${modules.length} modules, ${Math.min(...times).toFixed(0)} ms of processor time`,
    );
    expect(packages).toBeLessThanOrEqual(15);
    // `files` of decode leaves out declarations that no public one imports. The check of the tarballs sees it if one of them is needed.
    expect(bytes).toBeLessThanOrEqual(8e6);
    expect(files).toBeLessThanOrEqual(1_800);
    expect(modules.length).toBeLessThanOrEqual(12);
    expect(modules.filter((url) => url.includes("/kafkajs/") && !url.includes("/@cdckit/"))).toEqual([]); // loaded with the first connection
  });

  const timedImport = `const before = process.cpuUsage(); await import("cdckit");
    const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000);`;

  /** The files that a process reads to import cdckit, as V8 reports them. */
  function modulesOfImport(): readonly string[] {
    const folder = join(temporary, "coverage");
    const env = { ...process.env, NODE_V8_COVERAGE: folder };
    const { status } = spawnSync(process.execPath, ["--input-type=module", "-e", `import "cdckit";`], { cwd: app, env });
    expect(status).toBe(0);
    const [report = ""] = readdirSync(folder);
    const { result } = JSON.parse(readFileSync(join(folder, report), "utf8")) as { result: readonly { readonly url: string }[] };
    return result.map(({ url }) => url).filter((url) => url.includes("/node_modules/"));
  }

  test("the documents say how to pack what `cdckit` consists of", () => {
    const command = readFileSync(join(root, "docs/packages.md"), "utf8").match(/^npm pack .*$/m)?.[0] ?? "";
    const named = [...command.matchAll(/ -w (\S+)/g)].map(([, name = ""]) => name);
    const published = new Set(publishedPackages().map(({ manifest }) => manifest.name));
    const needed = closureOf(["cdckit"]).map(({ manifest }) => manifest.name);
    expect(named.toSorted()).toEqual(needed.filter((name) => published.has(name)).toSorted());
  });

  test("the documents have the configuration of Jest that projects are tried with", () => {
    const config = readFileSync(join(root, "test/packaging/projects/jest/jest.config.cjs"), "utf8");
    expect(readFileSync(join(root, "docs/packages.md"), "utf8")).toContain(`\`\`\`js\n${config}\`\`\``);
  });

  test("each names its types beside `exports`: TypeScript 5.9 reads no `exports` under `commonjs`", () => {
    for (const { path, manifest } of publishedPackages()) {
      const { types } = manifest as { readonly types?: string };
      expect(existsSync(join(path, types ?? "nothing")), path).toBe(true);
    }
  });

  test("each has a README of its own, and the license of the whole", () => {
    const license = readFileSync(join(root, "LICENSE"), "utf8");
    for (const { path } of publishedPackages()) {
      expect(readFileSync(join(path, "LICENSE"), "utf8"), path).toBe(license);
      expect(existsSync(join(path, "README.md")), path).toBe(true);
    }
  });

  test("no test, and no build of a source that is gone, is packed", () => {
    const files = ours.flatMap((tarball) =>
      run("tar", ["-tzf", tarball], root)
        .split("\n")
        .map((file) => `${tarball}: ${file}`),
    );
    const stray = files.filter((file) => /\.(test|fuzz)\.|tsbuildinfo|vectors\//.test(file));
    const declarations = files.filter((file) => file.endsWith(".d.ts"));
    const orphans = declarations.filter((file) => !files.includes(file.replace("/dist/", "/src/").replace(/\.d\.ts$/, ".ts")));
    // Bundles lie in `dist` itself: a script below it is of an earlier build.
    const old = files.filter((file) => /\/dist\/.*\/.*\.js$/.test(file));
    expect(declarations.length).toBeGreaterThan(0);
    expect([...stray, ...orphans, ...old]).toEqual([]);
  });
});
