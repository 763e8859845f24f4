/** `npm run demo`: the comparison table from a fresh clone, with nothing but Node. */
import { argumentsFor } from "./arguments.mjs";
import { become, setUp } from "./set-up.mjs";

const usage = `usage: npm run demo -- [OPTION]...

  what cdc-bench demo takes: --threshold EXPR, --baseline FILE, --max-regression PERCENT, --json, --output-format FORMAT, -o FILE, --profile FILE,
  --log-level LEVEL, --debug; packages/cdc-bench/README.md says what they do`;

const names = ["threshold", "baseline", "max-regression", "json", "output-format", "output", "o", "profile", "log-level", "debug"];
const args = argumentsFor(usage, names);
await setUp({ build: true });
await become("packages/cdc-bench/bin/cdc-bench.js", ["demo", ...args]);
