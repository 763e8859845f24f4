import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Profiler } from "node:inspector";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withSources } from "./sources.ts";

const folder = mkdtempSync(join(tmpdir(), "cdc-bench-sources-"));
const bundle = join(folder, "bundle.js");

beforeAll(() => {
  writeFileSync(join(folder, "reader.ts"), "// decodes\n\nexport function read(): number {\n  return 1;\n}\n");
  writeFileSync(join(folder, "index.ts"), 'import { read } from "./reader.ts";\nconsole.log(read());\n');
  buildSync({ entryPoints: [join(folder, "index.ts")], bundle: true, format: "esm", sourcemap: true, outfile: bundle });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function frameIn(file: string, lineNumber: number, columnNumber: number): Profiler.Profile["nodes"][number]["callFrame"] {
  return { functionName: "read", scriptId: "1", url: pathToFileURL(file).href, lineNumber, columnNumber };
}

function profileOf(callFrame: Profiler.ProfileNode["callFrame"]): Profiler.Profile {
  return { nodes: [{ id: 1, callFrame }], startTime: 0, endTime: 1 };
}

test("a function of a bundle stands where it was written", () => {
  const lines = readFileSync(bundle, "utf8").split("\n");
  const line = lines.findIndex((text) => text.startsWith("function read("));
  const { nodes } = withSources(profileOf(frameIn(bundle, line, "function read".length)));
  expect(nodes[0]?.callFrame).toMatchObject({ functionName: "read", url: pathToFileURL(join(folder, "reader.ts")).href, lineNumber: 2 });
});

test.each([
  ["a file without a map", pathToFileURL(join(folder, "reader.ts")).href],
  ["a file that is gone", pathToFileURL(join(folder, "gone.js")).href],
  ["a module of Node.js", "node:net"],
  ["what V8 names itself", ""],
])("%s stays as it is", (_, url) => {
  const profile = profileOf({ ...frameIn(bundle, 3, 0), url });
  expect(withSources(profile)).toEqual(profile);
});

test("a map that is not one leaves the places of the file as they are", () => {
  const file = join(folder, "broken.js");
  writeFileSync(`${file}.map`, "not a map");
  const profile = profileOf(frameIn(file, 3, 0));
  expect(withSources(profile)).toEqual(profile);
});
