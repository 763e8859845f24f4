import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pack, publishedPackages } from "../../scripts/tarballs.mjs";
import { closureOf, installTarballs, measureInstalled, root } from "./tarballs.ts";

const isBuilt = publishedPackages().every(({ path }) => existsSync(join(path, "dist/index.js")));
const skipReason = "the packages are not built: run `npm test`, or `npm run build` first";

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

  beforeAll(() => {
    ours = pack(publishedPackages(), join(temporary, "tarballs"));
    installTarballs(pack(closureOf(["cdckit", "kafkajs"]), join(temporary, "closure")), app);
  });
  afterAll(() => rmSync(temporary, { recursive: true, force: true }));

  const names = ["cdckit", "@cdckit/decode", "@cdckit/registry", "@cdckit/consumer", "@cdckit/kafkajs"];
  for (const name of names) {
    test(`${name} is imported and required, and gives the same names`, () => {
      const imported = run(process.execPath, ["-e", `import("${name}").then((m) => console.log(Object.keys(m).sort().join()))`], app);
      const required = run(
        process.execPath,
        [
          "-e",
          `console.log(Object.keys(require("${name}")).filter((key) => key !== "__esModule" && key !== "module.exports").sort().join())`,
        ],
        app,
      );
      expect(required).toBe(imported);
      expect(imported.trim()).not.toBe("");
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

  test("`npm install cdckit kafkajs` brings few packages and no build step", () => {
    const { packages, bytes } = measureInstalled(app);
    console.log(`npm install cdckit kafkajs: ${packages} packages, ${(bytes / 1e6).toFixed(1)} MB`);
    expect(packages).toBeLessThan(20);
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
    const built = files.filter((file) => /\/dist\/.*\.js$/.test(file));
    const orphans = built.filter((file) => !files.includes(file.replace("/dist/", "/src/").replace(/\.js$/, ".ts")));
    expect([...stray, ...orphans]).toEqual([]);
  });
});
