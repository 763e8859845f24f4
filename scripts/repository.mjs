/**
 * Where the repository is published, and everything that names the place. `repository.url` of the root's package.json is the one place where
 * its owner stands: `node scripts/repository.mjs` writes it everywhere else, and `npm run check -- repository` holds it equal.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { fail, repositoryRoot } from "./set-up.mjs";

/** @typedef {{ readonly path: string, readonly wanted: string }} WrittenFile */

/**
 * The address of the repository on its host, without an end: `https://github.com/OWNER/cdckit`.
 * @param {string} root
 */
export function repositoryAddress(root) {
  const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const address = /^git\+(https:\/\/github\.com\/[\w-]+\/[\w.-]+)\.git$/.exec(repository?.url ?? "")?.[1];
  return address ?? fail('package.json: expected repository.url as "git+https://github.com/OWNER/NAME.git".');
}

/**
 * The address under which a file of the repository is shown: the path follows.
 * @param {string} root
 */
export function fileAddress(root) {
  return `${repositoryAddress(root)}/blob/main/`;
}

/**
 * The address under which the bytes of a file are sent, which pictures need outside of the repository: the path follows.
 * @param {string} root
 */
export function rawAddress(root) {
  return `${repositoryAddress(root)}/raw/main/`;
}

/**
 * The files that do not name the repository as package.json does.
 * @param {string} root
 * @returns {string[]}
 */
export function checkRepository(root) {
  return writtenFiles(root)
    .filter(({ path, wanted }) => !existsSync(join(root, path)) || readFileSync(join(root, path), "utf8") !== wanted)
    .map(({ path }) => `${path}: does not name the repository as package.json does. Run: node scripts/repository.mjs`);
}

/**
 * Every file that names the repository, as it should be.
 * @param {string} root
 * @returns {WrittenFile[]}
 */
function writtenFiles(root) {
  return [...packageFiles(root), ...runbookFiles.map((path) => ({ path, wanted: withOwnAddress(root, path) }))];
}

/** Files outside of packages that lead people to pages of the repository. */
const runbookFiles = ["docker/prometheus/alerts.yml", "docker/prometheus/alerts.test.yml"];

/**
 * @param {string} root
 * @returns {WrittenFile[]}
 */
function packageFiles(root) {
  return readdirSync(join(root, "packages"))
    .filter((name) => existsSync(join(root, "packages", name, "package.json")))
    .flatMap((name) => {
      const folder = `packages/${name}`;
      const helpUrl = `${folder}/src/help-url.ts`;
      return [
        { path: `${folder}/package.json`, wanted: manifestOf(root, folder) },
        { path: `${folder}/README.md`, wanted: readmeOf(root, folder) },
        ...(existsSync(join(root, helpUrl)) ? [{ path: helpUrl, wanted: helpUrlSource(root) }] : []),
      ];
    });
}

/**
 * @param {string} root
 * @param {string} folder
 */
function manifestOf(root, folder) {
  const address = repositoryAddress(root);
  const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  const links = {
    homepage: `${address}/blob/main/${folder}/README.md`,
    repository: { type: "git", url: `git+${address}.git`, directory: folder },
    bugs: `${address}/issues`,
  };
  const { name, version, description, license, ...rest } = manifest;
  // The first mention gives a member its place, the last one its value.
  return `${JSON.stringify({ name, version, description, license, ...links, ...rest, ...links }, null, 2)}\n`;
}

/**
 * A README as a registry shows it: there is no folder around it, so a link out of the package needs its whole address.
 * @param {string} root
 * @param {string} folder
 */
function readmeOf(root, folder) {
  const base = fileAddress(root);
  const text = withOwnAddress(root, join(folder, "README.md")).replace(
    /\]\((\.\.\/[^)\s]+)\)/g,
    (_, target) => `](${base}${posix.join(folder, target)})`,
  );
  return text.replace(notice, "").replace(/^Not on npm yet\./m, `${base.includes("/OWNER/") ? notice : ""}Not on npm yet.`);
}

/** What a README says for as long as the owner is the placeholder. */
const notice = `The repository is not published yet: links to \`github.com/OWNER\` lead nowhere, and what follows \`blob/main/\` in them is the path in your clone.

`;

/**
 * A file whose addresses of an earlier owner are those of this one.
 * @param {string} root
 * @param {string} path
 */
function withOwnAddress(root, path) {
  return readFileSync(join(root, path), "utf8").replace(/https:\/\/github\.com\/[\w-]+\/cdckit\/(blob|raw)\/main\//g, (_, form) =>
    form === "raw" ? rawAddress(root) : fileAddress(root),
  );
}

/** @param {string} root */
function helpUrlSource(root) {
  return `// Written by scripts/repository.mjs. Packages of which one needs only the other's types have a copy each.

/** The address of the page about an error code: what happened, why, and what to do. */
export function helpUrlOf(code: string): string {
  return \`${fileAddress(root)}docs/errors/\${code}.md\`;
}
`;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const { path, wanted } of writtenFiles(repositoryRoot)) {
    writeFileSync(join(repositoryRoot, path), wanted);
  }
}
