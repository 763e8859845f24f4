// The local stack: npm run stack:up | stack:status | stack:seed -- --rows N | stack:stop -- kafka | stack:start -- kafka | stack:down
import { readArguments, refuse } from "./arguments.mjs";
import { demandWritable, setUp } from "./set-up.mjs";
import { defaultStackDir } from "./stack/state.mjs";

const usage = `usage: node scripts/stack.mjs <command> [--dir FOLDER]

  up              start Kafka, a schema registry, PostgreSQL, Kafka Connect with Debezium and three connectors, all on 127.0.0.1
  status          what runs, where, and how many events each topic holds
  stop kafka      end Kafka alone, as a power failure does; its data and everything else stay
  start kafka     start it again, with its data and on the same ports
  seed --rows N   insert N rows and wait for their events (default 1000)
  down            stop what up started

  --docker        seed the stack of docker/compose.yml instead
  --dir FOLDER    for state and logs (default: .stack in the checkout)`;

const { values, positionals } = readArguments(
  usage,
  {
    dir: { type: "string", default: defaultStackDir },
    rows: { type: "string", default: "1000" },
    docker: { type: "boolean", default: false },
  },
  { words: true },
);
const { dir, docker } = values;
const command = /** @type {"up" | "status" | "seed" | "stop" | "start" | "down"} */ (positionals[0]); // it is checked here
if (!["up", "status", "seed", "stop", "start", "down"].includes(command)) {
  refuse(positionals.length === 0 ? "no command given" : `no such command: ${command}`, usage);
}
const service = positionals[1] ?? "";
if ((command === "stop" || command === "start") && service === "") {
  refuse(`${command} what? Give the name of a service: kafka`, usage);
}
const rows = Number(values.rows);
if (!Number.isSafeInteger(rows) || rows < 1) {
  refuse(`--rows must be a whole number above 0, got "${values.rows}"`, usage);
}

await setUp(); // a fresh clone has no packages yet, and what follows needs them
const { composeAddresses } = await import("./stack/compose-addresses.mjs");
const { defaultTables } = await import("./stack/connectors.mjs");
const { down } = await import("./stack/down.mjs");
const { startService, stopService } = await import("./stack/one-service.mjs");
const { seedStack } = await import("./stack/seed.mjs");
const { StackError } = await import("./stack/stack-error.mjs");
const { addressesIn } = await import("./stack/state.mjs");
const { status } = await import("./stack/status.mjs");
const { up } = await import("./stack/up.mjs");

const exitCodes = Object.freeze({ ok: 0, failed: 1, interrupted: 130 });
// A terminal's Ctrl-C arrives twice: from the terminal, and from npm, which passes it on.
const sameKeyMs = 1_000;

// Who reads the output may stop reading, as `head` does, or a terminal that is closed. What was begun goes on to its end: half a stack is of no use.
for (const output of [process.stdout, process.stderr]) {
  output.on("error", (error) => {
    if (!["EPIPE", "EIO"].includes(String(/** @type {NodeJS.ErrnoException} */ (error).code))) throw error;
  });
}
process.exitCode = await main();

/** @returns {Promise<number>} */
async function main() {
  const interrupt = new AbortController();
  let interruptedAtMs = 0;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      if (interrupt.signal.aborted) {
        if (signal === "SIGHUP" || performance.now() - interruptedAtMs < sameKeyMs) return;
        process.exit(exitCodes.interrupted); // asked twice: at once
      }
      interruptedAtMs = performance.now();
      console.error("stopping what was started");
      interrupt.abort();
    });
  }
  try {
    await run(interrupt.signal);
    return exitCodes.ok;
  } catch (error) {
    if (!(error instanceof StackError)) throw error; // a fault of ours: its stack trace is what helps
    console.error(error.message);
    return error.code === "interrupted" ? exitCodes.interrupted : exitCodes.failed;
  }
}

/** @param {AbortSignal} signal */
async function run(signal) {
  switch (command) {
    case "up":
      if (dir === defaultStackDir) demandWritable();
      return up(dir, signal);
    case "status":
      return status(dir);
    case "seed":
      return seedStack(docker ? composeAddresses(defaultTables) : addressesIn(dir), rows, signal);
    case "stop":
      return stopService(dir, service);
    case "start":
      return startService(dir, service, signal);
    case "down":
      return down(dir);
  }
}
