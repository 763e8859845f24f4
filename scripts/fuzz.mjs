/** `npm run fuzz`: hostile bytes against the decoder, with its time and memory measured. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { become, fail, repositoryRoot, setUp } from "./set-up.mjs";

const script = "bench/dist/fuzz.js";

setUp({ build: true });
if (!existsSync(join(repositoryRoot, script))) {
  fail("There is no fuzz run yet: bench/src/fuzz.ts does not exist.");
}
become(script, process.argv.slice(2));
