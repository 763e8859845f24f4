/**
 * Documents that cannot lie: every TypeScript block of a README is compiled against the packages, blocks marked `ts run` are executed by
 * a test, and every command that a document names exists.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { filesUnder } from "./imports.mjs";
import { captureBeside, repositoryRoot, toolPath } from "./set-up.mjs";

/**
 * @typedef {object} Block
 * @property {string} document path below the repository
 * @property {number} line of its first line of code
 * @property {string} language the whole info string: `ts`, `ts run`, `sh`, ...
 * @property {string} code
 */

/**
 * @typedef {object} WrittenBlock
 * @property {string} path
 * @property {Block} block
 * @property {string | null} output what a block that runs must print, from a block of language `text` right after it
 */

/**
 * The documents whose blocks are judged: of the root, `docs/`, the packages, the examples, the benchmarks.
 * @param {string} root
 */
export function documentsOf(root) {
  const nested = ["packages", "examples"]
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name, "README.md")));
  const docs = existsSync(join(root, "docs")) ? filesUnder(join(root, "docs"), [".md"]).map((path) => relative(root, path)) : [];
  const own = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "GLOSSARY.md",
    "SECURITY.md",
    "SUPPORT.md",
    "bench/README.md",
    "docker/README.md",
  ];
  return [...own, ...docs, ...nested].filter((document) => existsSync(join(root, document)));
}

/**
 * Every fenced block of a document.
 * @param {string} root
 * @param {string} document
 */
export function blocksOf(root, document) {
  /** @type {Block[]} */
  const blocks = [];
  /** @type {{ line: number, language: string, lines: string[] } | null} */
  let open = null;
  for (const [index, line] of readFileSync(join(root, document), "utf8").split("\n").entries()) {
    if (open === null && line.startsWith("```")) {
      open = { line: index + 2, language: line.slice(3).trim(), lines: [] };
    } else if (open !== null && line.startsWith("```")) {
      blocks.push({ document, line: open.line, language: open.language, code: open.lines.join("\n") });
      open = null;
    } else {
      open?.lines.push(line);
    }
  }
  return blocks;
}

/**
 * Writes the TypeScript blocks of all documents into a folder inside the repository, so that they find the packages as users do.
 * @param {string} root
 * @returns {{ folder: string, files: WrittenBlock[] }}
 */
export function writeBlocks(root) {
  mkdirSync(join(root, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(root, ".cache", "readme-"));
  const files = [];
  for (const document of documentsOf(root)) {
    const blocks = blocksOf(root, document);
    for (const [index, block] of blocks.entries()) {
      if (block.language.split(" ")[0] === "ts") {
        const path = join(folder, `${document.replace(/\W+/g, "-")}-line-${block.line}.ts`);
        writeFileSync(path, `${block.code}\nexport {};\n`);
        const next = blocks[index + 1];
        files.push({ path, block, output: next?.language === "text" ? next.code : null });
      }
    }
  }
  writeFileSync(join(folder, "modules.d.ts"), foreignModules);
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(blockCompilerOptions, null, 2));
  return { folder, files };
}

// What samples import and this repository does not install, because it brings AWS' SDK: the part that they use, as the package declares it.
const foreignModules = `declare module "aws-msk-iam-sasl-signer-js" {
  export const generateAuthToken: (options: { region: string }) => Promise<{ token: string; expiryTime: number }>;
}
`;

// A sample is read, not shipped: it may leave a name unused and needs no declarations.
const blockCompilerOptions = {
  extends: "../../tsconfig.base.json",
  compilerOptions: {
    noEmit: true,
    experimentalDecorators: true, // Nest's
    composite: false,
    isolatedDeclarations: false,
    declaration: false,
    sourceMap: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
    rewriteRelativeImportExtensions: false,
    allowImportingTsExtensions: true,
  },
  include: ["*.ts"],
};

/**
 * What the compiler says against the TypeScript blocks, at their places in the documents; an empty text if nothing.
 * @param {string} root
 * @returns {Promise<string>}
 */
export async function checkCodeBlocks(root) {
  const { folder, files } = writeBlocks(root);
  try {
    if (files.length === 0) {
      return "No document has a TypeScript block. The README must begin with one.";
    }
    const { status, output } = await captureBeside(toolPath("tsc"), ["-p", folder, "--pretty", "false"]);
    return status === 0 ? "" : atDocuments(output, files);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The compiler's places, as places in the documents.
 * @param {string} output
 * @param {readonly WrittenBlock[]} files
 */
function atDocuments(output, files) {
  return output
    .split("\n")
    .map((line) => {
      const file = files.find(({ path }) => line.includes(`/${basename(path)}(`));
      return file === undefined
        ? line
        : line.replace(/^.*?\((\d+),(\d+)\)/, (_, row) => `${file.block.document}:${Number(row) + file.block.line - 1}`);
    })
    .join("\n");
}

/**
 * The commands in `sh` blocks, and those in running text between backquotes, that do not exist.
 * @param {string} root
 * @returns {string[]}
 */
export function checkCommands(root) {
  const scripts = Object.keys(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts);
  const benchCommands = commandsOfBench(root);
  return documentsOf(root).flatMap((document) =>
    readFileSync(join(root, document), "utf8")
      .split("\n")
      .flatMap((line) =>
        [
          ...namesAfter(line, /\bnpm run ([\w:-]+)/g, scripts, "package.json has no script"),
          ...namesAfter(line, /\bnpx cdc-bench ([a-z]+)/g, benchCommands, "cdc-bench has no command"),
        ].map((complaint) => `${document}: ${complaint} (line: ${line.trim()})`),
      ),
  );
}

/**
 * The paths between backquotes that do not exist, and the tests named after them that are not in their file.
 * @param {string} root
 * @returns {string[]}
 */
export function checkPaths(root) {
  const complaints = [];
  for (const document of documentsOf(root)) {
    const text = readFileSync(join(root, document), "utf8");
    for (const [, path = "", name] of text.matchAll(namedPath)) {
      if (!existsSync(join(root, path))) {
        complaints.push(`${document}: names ${path}, which does not exist.`);
      } else if (name !== undefined && !readFileSync(join(root, path), "utf8").includes(name)) {
        complaints.push(`${document}: names the test "${name}", which is not in ${path}.`);
      }
    }
  }
  return complaints;
}

// `packages/decode/src/errors.test.ts`: "the name of a test"
const namedPath = /`((?:packages|scripts|test|bench|docker|examples|\.ci)\/[\w./-]*)`(?:: "([^"\n]+)")?/g;

/**
 * @param {string} line
 * @param {RegExp} pattern
 * @param {readonly string[]} known
 * @param {string} sentence
 */
function namesAfter(line, pattern, known, sentence) {
  return [...line.matchAll(pattern)]
    .map(([, name = ""]) => name)
    .filter((name) => !known.includes(name))
    .map((name) => `${sentence} "${name}"`);
}

/**
 * The commands that cdc-bench gives its argument parser.
 * @param {string} root
 */
function commandsOfBench(root) {
  const folder = join(root, "packages/cdc-bench/src/cli");
  const sources = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts")) : [];
  return sources.flatMap((name) =>
    [...readFileSync(join(folder, name), "utf8").matchAll(/\.command\("([a-z]+)/g)].map(([, command = ""]) => command),
  );
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const wrong = [await checkCodeBlocks(repositoryRoot), ...checkCommands(repositoryRoot), ...checkPaths(repositoryRoot)].filter(
    (line) => line !== "",
  );
  console.log(wrong.join("\n"));
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
