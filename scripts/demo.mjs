/** `npm run demo`: the comparison table from a fresh clone, with nothing but Node. */
import process from "node:process";
import { become, setUp } from "./set-up.mjs";

setUp({ build: true });
await become("packages/cdc-bench/bin/cdc-bench.js", ["demo", ...process.argv.slice(2)]);
