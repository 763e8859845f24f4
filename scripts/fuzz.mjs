/** `npm run fuzz -- --minutes N --seed S`: hostile bytes against the decoder's promises, with their time and memory measured. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { repositoryRoot, runHere, setUp, toolPath } from "./set-up.mjs";

setUp({ build: true });
const { status: built } = spawnSync(toolPath("tsc"), ["-b", "test/fuzz"], { cwd: repositoryRoot, stdio: "inherit" });
if (built !== 0) {
  process.exit(built ?? 1);
}

// Memory is measured from one collection to the next.
process.exit(await runHere(["--expose-gc", join(repositoryRoot, "test/dist/fuzz/run.js"), ...process.argv.slice(2)]));
