/** `npm run fuzz -- --minutes N --seed S`: hostile bytes against the decoder's promises, with their time and memory measured. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { readArguments } from "./arguments.mjs";
import { repositoryRoot, runHere, setUp, toolPath } from "./set-up.mjs";

const usage = `usage: npm run fuzz -- [OPTION]...

  --minutes N         how long messages are changed (default 2, unless --messages is given)
  --seed S            of an earlier run, to repeat it (default: another one each time)
  --encoding NAME     the messages of this encoding alone
  --messages N        so many messages; with --minutes, whichever comes first
  --from N            the number of the first message (default 0)
  --judged-every N    one message of so many is held to every promise (default 50)
  --max-ms-per-mib N  processor time that a MiB may take (default 50)
  --no-attacks        changed messages alone
  --attacks TEXT      hostile messages alone, of these those whose names hold the text
  --digest            prints the digest of the outcomes alone`;

readArguments(usage, {
  minutes: { type: "string" },
  seed: { type: "string" },
  encoding: { type: "string" },
  messages: { type: "string" },
  from: { type: "string" },
  "judged-every": { type: "string" },
  "max-ms-per-mib": { type: "string" },
  "no-attacks": { type: "boolean" },
  attacks: { type: "string" },
  digest: { type: "boolean" },
});
await setUp({ build: true });
const { status: built } = spawnSync(toolPath("tsc"), ["-b", "test/fuzz"], { cwd: repositoryRoot, stdio: "inherit" });
if (built !== 0) {
  process.exit(built ?? 1);
}

// Memory is measured from one collection to the next.
process.exit(await runHere(["--expose-gc", join(repositoryRoot, "test/dist/fuzz/run.js"), ...process.argv.slice(2)]));
