/** The thread of {@link Watchdog}. */
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { workerData } from "node:worker_threads";
import { writeSync } from "node:fs";

const { message, repeat, maxMs } = workerData as { readonly message: Int32Array; readonly repeat: string; readonly maxMs: number };

for (let last = -1; ; last = message[0] ?? 0) {
  await setTimeout(maxMs);
  if (message[0] === last) {
    const standard = 2;
    writeSync(
      standard,
      `\nBROKEN: decoding ends\nmessage ${last} takes more than ${maxMs} ms\nrepeat  ${repeat} --from ${last} --messages 1\n`,
    );
    process.kill(process.pid, "SIGKILL");
  }
}
