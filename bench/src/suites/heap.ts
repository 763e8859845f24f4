import { fileURLToPath } from "node:url";
import type { HeapResult } from "../cases/heap.ts";
import { environment } from "../environment.ts";
import { runProcess } from "../run-process.ts";

const corpora = ["json-with-schema", "json", "confluent-avro"] as const;
/** Growth that counts as flat, in bytes a message: a leak of one small object is 32 or more. */
const flatBytesPerMessage = 1;

/** What a million decoded messages leave behind, each corpus in a process of its own. */
export async function runHeap({
  messages = 1_000_000,
  signal,
}: {
  readonly messages?: number;
  readonly signal: AbortSignal;
}): Promise<{ text: string; result: object }> {
  const child = fileURLToPath(new URL("../heap-child.js", import.meta.url));
  const results: HeapResult[] = [];
  for (const name of corpora) {
    const args = ["--expose-gc", child, name, String(messages)];
    const { stdout } = await runProcess(process.execPath, args, { signal, deadlineSeconds: 3_600 });
    results.push(JSON.parse(stdout) as HeapResult);
  }
  const lines = results.map(({ name, messages: decoded, heapBytes, growthPerMessageBytes }) => {
    const figures = heapBytes.map((bytes) => (bytes / 2 ** 20).toFixed(1)).join(" ");
    const verdict = growthPerMessageBytes < flatBytesPerMessage ? "flat" : "GROWING";
    return `${name}: ${decoded} messages, live heap in MiB: ${figures}: ${verdict} (${growthPerMessageBytes.toFixed(3)} bytes a message)`;
  });
  return { text: ["heap", ...lines].join("\n"), result: { environment: environment(), flatBytesPerMessage, results } };
}
