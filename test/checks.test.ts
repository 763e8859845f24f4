import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { afterAll, beforeEach, describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
mkdirSync(join(root, ".cache"), { recursive: true });
const folder = mkdtempSync(join(root, ".cache", "checks-"));
const repository = { url: "git+https://github.com/somebody/one.git" };

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(file: string, content: string | object): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), typeof content === "string" ? content : JSON.stringify(content));
}

// A repository of one package, in which every check passes.
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  write("package.json", { repository, devDependencies: { vitest: "4.1.12" }, scripts: { test: "vitest", demo: "node demo.mjs" } });
  write("packages/one/package.json", { name: "@cdckit/one", dependencies: { avsc: "5.7.9" } });
  write("packages/one/src/index.ts", `import { Type } from "avsc";\n`);
  write("packages/cdc-bench/package.json", { name: "cdc-bench" });
  write("packages/cdc-bench/src/cli/inspect.ts", `program.command("inspect");\n`);
  write("test/package.json", { name: "@cdckit/test", private: true });
  write("test/one.test.ts", `import { test } from "vitest";\n`);
  write("scripts/test.mjs", "");
  write("ARCHITECTURE.md", "| `avsc` | reads |\n| `vitest` | tests |\n");
  write("README.md", "# One\n\n```ts\nconst one: number = 1;\n```\n\n```sh\nnpm run demo\nnpx cdc-bench inspect --file x\n```\n");
  copyFileSync(join(root, "tsconfig.base.json"), join(folder, "tsconfig.base.json"));
  copyFileSync(join(root, "tsconfig.base.json"), join(folder, "vitest.config.ts"));
});

/** What a check of `scripts/` says of the small repository. */
function said(script: string, check: string): string {
  const code = `
    const { ${check} } = await import("./scripts/${script}");
    console.log([await ${check}(${JSON.stringify(folder)})].flat().join("\\n"));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { cwd: root, encoding: "utf8" });
  return `${stdout}${stderr}`.trim();
}

describe("the check of words in names", () => {
  const words = (): string[] => said("words.mjs", "checkWords").split("\n");

  test("has nothing to say of the field's words, nor of comments, texts and regular expressions", () => {
    write(
      "packages/one/src/fast-path.ts",
      "const fastPath = `told ${1} ${`stated`}`; // the short way\nconst p = /weight/.test('spend') ? 2 / 1 : 0;\n",
    );
    expect(words()).toEqual([""]);
  });

  test("sees a banned word in a file's name, and in names in whatever form they are written", () => {
    write(
      "packages/one/src/short-way.ts",
      "const maxX = `${shortWay}`;\nconst a = 1 / leastBytes / 2;\nclass OneWeaver {\n  #stated = /`/;\n}\n",
    );
    write("test/open-record.mjs", "export const passedOver = '`';\nexport const openRecords = 1;\n");
    expect(words()).toEqual([
      'packages/one/src/short-way.ts: its name says "short way": use fast path.',
      'packages/one/src/short-way.ts:1: shortWay says "short way": use fast path.',
      'packages/one/src/short-way.ts:2: leastBytes says "least …": use min.',
      'packages/one/src/short-way.ts:3: OneWeaver says "weaver": use ClosureCompiler.',
      'packages/one/src/short-way.ts:4: stated says "stated": use hinted, or declared.',
      'test/open-record.mjs: its name says "open record": use InFlightRecord.',
      'test/open-record.mjs:1: passedOver says "passed over": use skipped.',
      'test/open-record.mjs:2: openRecords says "open records": use InFlightRecord.',
    ]);
  });

  test("knows rooms in which a word is the field's", () => {
    write("packages/decode/src/quick.ts", "export const isQuick = true;\n");
    write("scripts/quick.mjs", "export const isQuick = true;\n");
    expect(words()).toEqual([
      'packages/decode/src/quick.ts: its name says "quick": use fast path.',
      'packages/decode/src/quick.ts:1: isQuick says "quick": use fast path.',
    ]);
  });
});

describe("the dependency check", () => {
  const dependencies = (): string => said("dependencies.mjs", "checkDependencies");

  test("has nothing to say if all is declared, used and explained", () => {
    expect(dependencies()).toBe("");
  });

  test("sees an import that is not declared", () => {
    write("packages/one/src/other.ts", `import { format } from "left-pad";\n`);
    expect(dependencies()).toBe("packages/one/src/other.ts:1: imports left-pad, which packages/one/package.json does not declare.");
  });

  test("sees a tool of the tests in a source", () => {
    write("packages/one/src/other.ts", `import { expect } from "vitest";\n`);
    expect(dependencies()).toContain("imports vitest");
  });

  test("sees a dependency that nothing imports", () => {
    write("packages/one/src/index.ts", "export {};\n");
    expect(dependencies()).toBe("packages/one/package.json: declares avsc, which nothing there imports. Remove it.");
  });

  test("lets a package bring what one of ours asks of it as a peer", () => {
    write("packages/two/package.json", { name: "@cdckit/two", dependencies: { "@cdckit/one": "1", avsc: "5.7.9" } });
    write("packages/two/src/index.ts", `import "@cdckit/one";\n`);
    expect(dependencies()).toContain("packages/two/package.json: declares avsc");
    write("packages/one/package.json", { name: "@cdckit/one", peerDependencies: { avsc: "5.7.9" } });
    expect(dependencies()).not.toContain("packages/two");
  });

  test("sees a dependency without a reason", () => {
    write("ARCHITECTURE.md", "avsc is `avsc`\n| `vitest` | tests |\n");
    expect(dependencies()).toBe('ARCHITECTURE.md: gives no reason for avsc, which @cdckit/one needs. Add a row to "Dependencies".');
  });

  test("sees a tool that nothing names", () => {
    write("test/one.test.ts", "export {};\n");
    write("scripts/test.mjs", "");
    write("package.json", { devDependencies: { vitest: "4.1.12", prettier: "3" }, scripts: { test: "vitest" } });
    write("ARCHITECTURE.md", "| `avsc` | reads |\n| `vitest` | tests |\n| `prettier` | formats |\n");
    expect(dependencies()).toBe("package.json: declares prettier, which no script, test or configuration names. Remove it.");
  });
});

describe("the document check", () => {
  const blocks = (): string => said("readme.mjs", "checkCodeBlocks");
  const commands = (): string => said("readme.mjs", "checkCommands");

  test("has nothing to say if blocks compile and commands exist", () => {
    expect(blocks()).toBe("");
    expect(commands()).toBe("");
  });

  test("sees a block that does not compile, at its place in the document", () => {
    write("README.md", "# One\n\n```ts\nconst one = 1;\nconst two: number = 'two';\n```\n");
    expect(blocks()).toContain("README.md:5: error TS2322");
  });

  test("sees an import that does not exist", () => {
    write("packages/one/README.md", '```ts\nimport { nothing } from "@cdckit/decode";\n```\n');
    expect(blocks()).toContain("packages/one/README.md:2: error TS2305");
  });

  test("sees paths and tests that do not exist", () => {
    const lines = ['`test/one.test.ts`: "import"', '`test/one.test.ts`: "flies"', "`packages/two/`", "`elsewhere/three`"];
    write("ARCHITECTURE.md", lines.join("\n\n"));
    expect(said("readme.mjs", "checkPaths").split("\n")).toEqual([
      'ARCHITECTURE.md: names the test "flies", which is not in test/one.test.ts.',
      "ARCHITECTURE.md: names packages/two/, which does not exist.",
    ]);
  });

  test("asks for a block", () => {
    write("README.md", "# One\n");
    expect(blocks()).toContain("The README must begin with one.");
  });

  test("sees commands that do not exist", () => {
    write("README.md", "```sh\nnpm run fly\nnpx cdc-bench swim --fast\n```\n");
    expect(commands().split("\n")).toEqual([
      'README.md: package.json has no script "fly" (line: npm run fly)',
      'README.md: cdc-bench has no command "swim" (line: npx cdc-bench swim --fast)',
    ]);
  });
});

describe("the link check", () => {
  const links = (): string[] => said("links.mjs", "checkLinks").split("\n");

  test("has nothing to say if links lead somewhere, or out of the repository", () => {
    const list = [
      "[a](ARCHITECTURE.md)",
      "[b](docs/two.md#where-it-is-1)",
      "[c](#one)",
      "[d](docs)",
      "[e](https://example.com/x#y)",
      "[f][g]",
    ];
    write("README.md", `# One\n\n${list.join("\n")}\n\n[g]: <docs/two.md> "title"\n<a href="docs/two.md#mark">h</a>\n`);
    write("docs/two.md", '## Where `it` is\n## [Where it is](../README.md)!\n<a id="mark"></a>\n[back](/README.md#one)\n');
    expect(links()).toEqual([""]);
  });

  test("sees links that lead nowhere, in whatever form they are written", () => {
    write("docs/two.md", "# Two\n\n[a](three.md) and ![b](<../no picture.png>)\n");
    write("README.md", '# One\n\n[c](docs/tow.md)\n[d][e]\n\n[e]: elsewhere.md\n<img src="none.svg">\n[f](../../out.md "title")\n');
    expect(links().toSorted()).toEqual([
      "README.md:3: links to docs/tow.md, and there is no docs/tow.md.",
      "README.md:6: links to elsewhere.md, and there is no elsewhere.md.",
      "README.md:7: links to none.svg, and there is no none.svg.",
      "README.md:8: links to ../../out.md, which is outside of the repository.",
      "docs/two.md:3: links to ../no picture.png, and there is no no picture.png.",
      "docs/two.md:3: links to three.md, and there is no docs/three.md.",
    ]);
  });

  test("sees anchors that no heading has", () => {
    write("docs/two.md", "# Two\n\n```sh\n# three\n```\n");
    write("README.md", "# One\n\n[a](#two)\n[b](docs/two.md#two)\n[c](docs/two.md#three)\n");
    expect(links()).toEqual([
      "README.md:3: links to #two, and README.md has no heading of that name.",
      "README.md:5: links to docs/two.md#three, and docs/two.md has no heading of that name.",
    ]);
  });

  test("takes the repository's own address for its folder", () => {
    const own = "https://github.com/somebody/one/blob/main/";
    write(
      "README.md",
      `# One\n\n[a](${own}ARCHITECTURE.md) [b](${own}docs/none.md) [c](https://github.com/somebody/two/blob/main/none.md)\n`,
    );
    expect(links()).toEqual([`README.md:3: links to ${own}docs/none.md, and there is no docs/none.md.`]);
  });

  test("takes nothing in code for a link", () => {
    write("README.md", "# One\n\n`a[0](b)` and ``c[`d`](e)``\n\n```ts\nf[0](g);\n```\n<!-- [h](i) -->\n");
    expect(links()).toEqual([""]);
  });
});

describe("the check command", () => {
  const check = (...names: string[]): { status: number | null; stderr: string; stdout: string } =>
    spawnSync(process.execPath, ["scripts/check.mjs", ...names], { cwd: root, encoding: "utf8" });

  test("judges what is named alone, each with its time", () => {
    const { status, stdout } = check("rooms", "commands");
    expect(stdout).toMatch(/^ok {4}rooms {2}\d+\.\d s\nok {4}commands {2}\d+\.\d s\ncheck: all 2 passed \(\d+ s\)\n$/);
    expect(status).toBe(0);
  });

  test("lists the names if one is unknown", () => {
    const { status, stderr, stdout } = check("rooms", "flies");
    expect(stderr).toMatch(/^There is no check "flies"\. The checks are:\n(?: {2}[\w-]+ +\S.*\n)+$/);
    expect(stderr).toContain("  links           links of documents\n");
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  });
});

describe("the tests of a change", () => {
  const related = (...changed: string[]): unknown => {
    const code = `
      const { relatedTests } = await import("./scripts/related-tests.mjs");
      console.log(JSON.stringify(relatedTests(${JSON.stringify(folder)}, ${JSON.stringify(changed)})));`;
    return JSON.parse(spawnSync(process.execPath, ["--input-type=module", "-e", code], { cwd: root, encoding: "utf8" }).stdout);
  };

  beforeEach(() => {
    write("packages/one/package.json", { name: "@cdckit/one", exports: { ".": { "@cdckit/source": "./src/index.ts" } } });
    write("packages/one/src/index.ts", 'export { a } from "./a.ts";\nexport { b, type B } from "./b.ts";\n');
    write("packages/one/src/a.ts", "export const a = 1;\n");
    write("packages/one/src/b.ts", 'import type { a } from "./a.ts";\nexport const b = 1;\nexport type B = typeof a;\n');
    write("packages/one/src/a.test.ts", 'import { a } from "./a.ts";\n');
    write("test/a.test.ts", 'import { a } from "@cdckit/one";\n');
    write("test/b.test.ts", 'import { b as c } from "@cdckit/one";\nconst { worker } = await import("./worker.ts");\n');
    write("test/worker.ts", 'import { a } from "@cdckit/one";\n');
    write("test/lists.test.ts", "readdirSync(import.meta.dirname);\n");
  });

  test("are those that reach it by imports at run time, the nearest first", () => {
    expect(related("packages/one/src/a.ts")).toEqual([
      { file: "packages/one/src/a.test.ts", distance: 1 },
      { file: "test/a.test.ts", distance: 1 },
      { file: "test/b.test.ts", distance: 2 },
    ]);
    expect(related("packages/one/src/b.ts")).toEqual([{ file: "test/b.test.ts", distance: 1 }]);
  });

  test("are the test itself, and nothing for what no test reaches", () => {
    expect(related("test/a.test.ts")).toEqual([{ file: "test/a.test.ts", distance: 0 }]);
    expect(related("README.md", "packages/one/src/gone.ts")).toEqual([]);
  });

  test("of a file that is not code are those that name it, or list its folder", () => {
    write("test/data/rows.ndjson", "");
    write("packages/one/src/c.test.ts", 'readFileSync("../../../test/data/rows.ndjson");\n');
    const files = (related("test/data/rows.ndjson") as { file: string }[]).map(({ file }) => file);
    expect(files).toContain("packages/one/src/c.test.ts");
    expect(files).toContain("test/lists.test.ts");
  });
});

describe("the set-up of a clone", () => {
  const installed = (): string => said("set-up.mjs", "isInstalled");
  const locked = (version: string, optional = false): object => ({
    packages: { "": {}, "packages/one": {}, "node_modules/avsc": { version, ...(optional ? { optional } : {}) } },
  });

  test("installs if nothing is installed", () => {
    write("package-lock.json", locked("5.7.9"));
    expect(installed()).toBe("false");
  });

  test("leaves what is installed alone, whatever the files' dates", () => {
    write("node_modules/.package-lock.json", locked("5.7.9"));
    write("package-lock.json", locked("5.7.9"));
    expect(installed()).toBe("true");
  });

  test("installs again if the lock file names another version, or one package more", () => {
    write("node_modules/.package-lock.json", locked("5.7.8"));
    write("package-lock.json", locked("5.7.9"));
    expect(installed()).toBe("false");
    write("node_modules/.package-lock.json", { packages: {} });
    expect(installed()).toBe("false");
  });

  test("does not wait for a binary of another platform", () => {
    write("node_modules/.package-lock.json", { packages: {} });
    write("package-lock.json", locked("5.7.9", true));
    expect(installed()).toBe("true");
  });
});

describe("the check of doc comments", () => {
  test("sees public names without one, through files that pass them on", () => {
    write("packages/one/src/index.ts", 'export { a, b } from "./a.ts";\nexport type { C } from "./a.ts";\n');
    write("packages/one/src/a.ts", 'export { b } from "./b.ts";\n/** Says what it is. */\nexport const a = 1;\nexport interface C {}\n');
    write("packages/one/src/b.ts", "export function b(): void {}\n");
    expect(said("docstrings.mjs", "checkDocstrings").split("\n")).toEqual([
      "packages/one/src/b.ts: b is public and has no doc comment.",
      "packages/one/src/a.ts: C is public and has no doc comment.",
    ]);
  });

  test("wants a doc comment at each property, however deep, that says more than the default; none at a text of one value", () => {
    write("packages/one/src/index.ts", 'export type { C, T } from "./a.ts";\nexport { D } from "./a.ts";\n');
    const members = `  readonly kind: "change";\n  readonly bare: number;\n  /** @default 1 */\n  late?: number;\n  /** Said. */\n  readonly "two-words"?: {\n    readonly deep: string;\n  };\n  /** Said. */\n  call(\n    parameter: number,\n  ): void;\n`;
    write(
      "packages/one/src/a.ts",
      `/** C. */\nexport interface C {\n${members}}\n/** T. */\nexport type T =\n  | {\n      readonly kind: "a";\n      /** Said.\n       * @default 2 */\n      said: 1;\n      branch: 2;\n    }\n  | null;\n/** D. */\nexport class D {\n  readonly code: string;\n  /** Runs. */\n  run(): void {\n    const a = { b: 1 };\n    label: for (;;) {\n    }\n  }\n}\n`,
    );
    expect(said("docstrings.mjs", "checkDocstrings").split("\n")).toEqual([
      "packages/one/src/a.ts: C.bare is public and has no doc comment.",
      "packages/one/src/a.ts: C.late is public and has no doc comment.",
      "packages/one/src/a.ts: C.deep is public and has no doc comment.",
      "packages/one/src/a.ts: T.branch is public and has no doc comment.",
      "packages/one/src/a.ts: D.code is public and has no doc comment.",
    ]);
  });

  test("wants a doc comment at each method and accessor of an interface or a class, and none at what a class implements", () => {
    const members = `  /** Its id. */\n  readonly id: number;\n  bare(): void;\n  /** Twice. */\n  said(one: number): void;\n  said(one: string): void;\n  toJSON(): string;\n`;
    const body =
      "  #own(): void {\n    if (this.a()) {\n    }\n  }\n\n  get size(): number {\n    return 1;\n  }\n\n  toString(): string {\n    return '';\n  }\n";
    write("packages/one/src/index.ts", 'export { D, E } from "./a.ts";\nexport type { C } from "./a.ts";\n');
    write(
      "packages/one/src/a.ts",
      `/** C. */\nexport interface C {\n${members}}\n/** D. */\nexport class D<T> {\n${body}}\n/** E. */\nexport class E implements C {\n${body}}\n`,
    );
    expect(said("docstrings.mjs", "checkDocstrings").split("\n")).toEqual([
      "packages/one/src/a.ts: D.size is public and has no doc comment.",
      "packages/one/src/a.ts: C.bare is public and has no doc comment.",
    ]);
  });
});

describe("the check of tables of options", () => {
  const mark = "<!-- options: AOptions as a -->";
  const table = `${mark}\n\n| option | type | default | |\n|---|---|---|---|\n| \`a.size\` | \`"s" \\| "l"\` | \`"s"\` | How large. |\n| \`a.b\` | \`BOptions\` | required | The \`B\`. |\n\n<!-- /options -->\n`;

  test("sees a table that differs from the source, and options that have none", () => {
    write(
      "packages/one/src/a.ts",
      'export type Size = "s" | "l";\n/** A. */\nexport interface AOptions {\n  /**\n   * How\n   * large.\n   * @default "s"\n   */\n  readonly size?: Size;\n  /** The {@link B}. */\n  readonly b: BOptions;\n}\n/** B. */\nexport interface BOptions {}\n',
    );
    write("packages/one/README.md", `${table}`);
    const without = "packages/one/README.md: a table names BOptions, and no README has a table of it.";
    expect(said("option-tables.mjs", "checkOptionTables").split("\n")).toEqual([without]);
    write("packages/one/README.md", table.replace("How large", "How wide"));
    expect(said("option-tables.mjs", "checkOptionTables").split("\n")).toEqual([
      "packages/one/README.md: its tables of options differ from the sources. Run: node scripts/option-tables.mjs",
      without,
    ]);
  });
});

describe("the check of error pages", () => {
  const pages = (): string[] => said("error-pages.mjs", "checkErrorPages").split("\n");
  const page = (code: string, example: string): string =>
    `# ${code}\n\n**What happened.** X\n\n**Why.** Y\n\n**What to do.** Z\n\n\`\`\`text\n${example}\n\`\`\`\n\nThrown by \`OneError\` of \`@cdckit/one\`.\n`;

  beforeEach(() => {
    write("packages/one/src/errors.ts", 'export type OneErrorCode =\n  /** "Late". */\n  "too-late" | "too-early";\n');
    write(
      "packages/one/src/index.ts",
      'throw new OneError("too-late", `the train of ${hour} has left the station`);\nnew OneError("too-early", "");\n',
    );
    write("docs/errors/README.md", "[a](too-late.md) [b](too-early.md)\n");
    write("docs/errors/too-late.md", page("too-late", "[too-late] the train of 9 has left the station"));
  });

  test("wants a page for each code, and a code for each page", () => {
    write("docs/errors/too-soon.md", page("too-soon", ""));
    expect(pages()).toEqual([
      "docs/errors/too-soon.md: no source has this code.",
      "docs/errors/too-early.md: is missing: what happened, why, what to do, and an example message.",
    ]);
  });

  test("wants an example that a source writes", () => {
    write("docs/errors/too-early.md", page("too-early", "[too-early] the train comes at some other time"));
    expect(pages()).toEqual(['docs/errors/too-early.md: its example says "the train comes at some other time", which no source writes.']);
    write("docs/errors/too-early.md", page("too-early", "the train of 9 has left the station"));
    expect(pages()).toEqual(['docs/errors/too-early.md: has no example message that begins with "[too-early] ".']);
  });

  test("sees an example of which a clause has another wording by now, and lets what was put in be", () => {
    write(
      "docs/errors/too-early.md",
      page("too-early", "[too-early] the train of 9 has left the station: wait for the one that comes then"),
    );
    expect(pages()).toEqual(['docs/errors/too-early.md: its example says ": wait for the one that comes then", which no source writes.']);
    write("docs/errors/too-early.md", page("too-early", "[too-early] the train of Sunday at nine has left the station"));
    expect(pages()).toEqual([""]);
  });
});

describe("the check of the repository's address", () => {
  test("sees a manifest, a README, a source and an alert that name another one", () => {
    write("packages/one/README.md", "[a](../../docs/two.md)\n");
    write("packages/one/src/help-url.ts", "export {};\n");
    write("packages/cdc-bench/README.md", "[a](#b)\n");
    write("docker/prometheus/alerts.yml", "runbook_url: https://github.com/somebody/cdckit/blob/main/docs/runbooks/a.md\n");
    write("docker/prometheus/alerts.test.yml", "rule_files: [alerts.yml]\n");
    expect(said("repository.mjs", "checkRepository").split("\n")).toEqual(
      [
        "packages/cdc-bench/package.json",
        "packages/one/package.json",
        "packages/one/README.md",
        "packages/one/src/help-url.ts",
        "docker/prometheus/alerts.yml",
      ].map((path) => `${path}: does not name the repository as package.json does. Run: node scripts/repository.mjs`),
    );
  });
});
