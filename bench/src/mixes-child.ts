import { mixes, passOf } from "./cases/mixes.ts";
import type { Encoding } from "./varied-corpus.ts";

// Time is the processor's: on a machine that others use as well, the clock goes on while this process waits.
const [name, encoding, measureMs] = process.argv.slice(2);
const chosen = mixes.find((mix) => mix.name === name);
if (chosen === undefined) {
  throw new TypeError(`there is no mix called ${name}`);
}
const { pass, messages, bytes } = await passOf(chosen, encoding as Encoding);
let consumed = 0;

function processorNs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1_000;
}

/** Nanoseconds a message of each pass, until the passes have taken `forMs`. */
async function passesFor(forMs: number): Promise<readonly number[]> {
  const passesNs: number[] = [];
  const end = processorNs() + forMs * 1e6;
  for (let now = processorNs(); now < end; ) {
    const read = pass();
    consumed += typeof read === "number" ? read : await read; // a result that is no promise is not awaited
    const after = processorNs();
    passesNs.push((after - now) / messages);
    now = after;
  }
  return passesNs;
}

await passesFor(chosen.warmUpMs);
const passesNs = await passesFor(Number(measureMs));
process.stdout.write(JSON.stringify({ passesNs, bytesPerMessage: bytes / messages, consumed }));
