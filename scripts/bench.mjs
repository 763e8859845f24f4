/** `npm run bench`: the in-process figures of `bench/`, beside their peers. */
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { readArguments, refuse } from "./arguments.mjs";
import { become, repositoryRoot, setUp } from "./set-up.mjs";

/** A file each, named as its suite: what there is can be said before anything is built. */
const suites = readdirSync(join(repositoryRoot, "bench/src/suites")).map((file) => basename(file, ".ts"));
const compressions = ["gzip", "snappy"];

const usage = `usage: npm run bench -- [${suites.join("|")}]... [OPTION]...

  --rounds N     rounds per contender (default 15; of mixes 3, of peers 5)
  --round-ms N   shortest time of one round in milliseconds (default 150)
  --messages N   messages of the heap suite (default 1000000) and of each pass of runtime (200000), and of sink (10000)
  --megabytes N  how much goes through a heap of 256 MiB in flow (default 2600)
  --minutes N    how long soak goes on (default 30); how long peers (30) and mixes (12) may take: no round begins that would end later
  --only REGEX   which mixes of records (default all of them)
  --case REGEX   which cases of peers (default all of them)
  --quick        peers: small sizes and one round, to see that everything works
  --profile      peers: each process writes a profile of the processor, in one round
  --compressions gzip,snappy   peers: measured on top of none, lz4 and zstd
  -o, --output F write the results as JSON too; a whole run of peers writes bench/results/peers.json and peers.md by itself`;

const { values, positionals } = readArguments(
  usage,
  {
    rounds: { type: "string" },
    "round-ms": { type: "string", default: "150" },
    messages: { type: "string" },
    minutes: { type: "string" },
    megabytes: { type: "string" },
    only: { type: "string" },
    case: { type: "string" },
    quick: { type: "boolean", default: false },
    profile: { type: "boolean", default: false },
    compressions: { type: "string" },
    output: { type: "string", short: "o" },
  },
  { words: true },
);
const unknown = positionals.find((name) => !suites.includes(name));
if (unknown !== undefined) {
  refuse(`there is no suite called ${unknown}`, usage);
}
const { only, case: chosenCase, quick, profile, output } = values;
const command = {
  suites: positionals,
  rounds: positive("rounds"),
  roundMs: positive("round-ms"),
  messages: positive("messages"),
  minutes: positive("minutes"),
  megabytes: positive("megabytes"),
  compressions: chosenCompressions(),
  only,
  case: chosenCase,
  quick,
  profile,
  output,
};

await setUp({ build: true });
await become("bench/dist/main.js", [JSON.stringify(command)]);

/** @param {"rounds" | "round-ms" | "messages" | "minutes" | "megabytes"} flag */
function positive(flag) {
  const { [flag]: text } = values;
  const value = Number(text);
  if (text !== undefined && (!Number.isSafeInteger(value) || value < 1)) {
    refuse(`--${flag} must be a positive integer, got ${text}`, usage);
  }
  return text === undefined ? undefined : value;
}

function chosenCompressions() {
  const names = values.compressions?.split(",");
  const wrong = names?.find((name) => !compressions.includes(name));
  return wrong === undefined ? names : refuse(`--compressions takes ${compressions.join(" and ")}, got ${wrong}`, usage);
}
