// An example and all that it needs: npm run example -- NAME
import { readArguments, refuse } from "./arguments.mjs";
import { readExamples } from "./example/examples.mjs";
import { demandWritable, setUp } from "./set-up.mjs";
import { StackError } from "./stack/stack-error.mjs";
import { defaultStackDir } from "./stack/state.mjs";

const exitCodes = Object.freeze({ failed: 1, interrupted: 130 });
// A terminal's Ctrl-C arrives twice: from the terminal, and from npm, which passes it on.
const sameKeyMs = 1_000;

const stopping = new AbortController();
const impatience = new AbortController();
let stoppedAt = 0;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (!stopping.signal.aborted) {
      stop();
    } else if (Date.now() - stoppedAt > sameKeyMs) {
      impatience.abort();
    }
  });
}
// Who reads the output may stop reading, as `head` does, or a terminal that is closed.
for (const output of [process.stdout, process.stderr]) {
  output.on("error", (error) => {
    if (!["EPIPE", "EIO"].includes(String(/** @type {NodeJS.ErrnoException} */ (error).code))) throw error;
    stop();
  });
}
// If npm is killed, its signal ends the shell between npm and this process, and nobody tells this process.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && stop(), 500).unref();
process.exitCode = await main();

function stop() {
  stoppedAt ||= Date.now();
  stopping.abort();
}

/** @returns {Promise<number>} */
async function main() {
  try {
    const { example, dir, docker, args } = readCommand();
    if (dir === defaultStackDir) demandWritable();
    await setUp({ build: true }); // what follows needs packages, which a fresh clone does not have
    const { runExample } = await import("./example/run-example.mjs");
    const log = (/** @type {string} */ line) => console.error(line);
    return await runExample(example, { dir, docker, args, signal: stopping.signal, impatience: impatience.signal, log });
  } catch (error) {
    if (!(error instanceof StackError)) throw error; // a fault of ours: its stack trace is what helps
    console.error(error.message);
    return error.code === "interrupted" ? exitCodes.interrupted : exitCodes.failed;
  }
}

function readCommand() {
  const examples = readExamples();
  const list = examples.map(({ name, description }) => `  ${name.padEnd(20)}${description}`).join("\n");
  const usage = `usage: npm run example -- NAME [ARGUMENT...] [--docker]

${list}

  --docker        use the stack of docker/compose.yml, which is up already; by default the stack without Docker is started if it is not up
  --dir FOLDER    of the stack without Docker (default: .stack in the checkout)`;
  const { positionals, values } = readArguments(
    usage,
    { dir: { type: "string", default: defaultStackDir }, docker: { type: "boolean", default: false } },
    { words: true },
  );
  const [name, ...args] = positionals;
  const example = examples.find((one) => one.name === name);
  return example === undefined
    ? refuse(name === undefined ? "no example given" : `no such example: ${name}`, usage)
    : { example, args, dir: values.dir, docker: values.docker };
}
