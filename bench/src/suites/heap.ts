import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { HeapResult } from "../cases/heap.ts";
import { environment } from "../environment.ts";

const corpora = ["json-with-schema", "json", "confluent-avro"] as const;
/** Growth that counts as flat, in bytes a message: a leak of one small object is 32 or more. */
const flatBytesPerMessage = 1;

/** What a million decoded messages leave behind, each corpus in a process of its own. */
export function runHeap({ messages = 1_000_000 }: { readonly messages?: number }): Promise<{ text: string; result: object }> {
  const child = fileURLToPath(new URL("../heap-child.js", import.meta.url));
  const results = corpora.map(
    (name) =>
      JSON.parse(execFileSync(process.execPath, ["--expose-gc", child, name, String(messages)], { encoding: "utf8" })) as HeapResult,
  );
  const lines = results.map(({ name, messages: decoded, heapBytes, growthPerMessageBytes }) => {
    const figures = heapBytes.map((bytes) => (bytes / 2 ** 20).toFixed(1)).join(" ");
    const verdict = growthPerMessageBytes < flatBytesPerMessage ? "flat" : "GROWING";
    return `${name}: ${decoded} messages, live heap in MiB: ${figures}: ${verdict} (${growthPerMessageBytes.toFixed(3)} bytes a message)`;
  });
  return Promise.resolve({ text: ["heap", ...lines].join("\n"), result: { environment: environment(), flatBytesPerMessage, results } });
}
