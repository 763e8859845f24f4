import { createDecoder } from "@cdckit/decode";
import { type CorpusName, loadCorpus } from "../corpus.ts";

export interface HeapResult {
  readonly name: CorpusName;
  readonly messages: number;
  /** Live heap after a full collection, in bytes, at equal steps through the run; the first after a warm-up. */
  readonly heapBytes: readonly number[];
  /** What the heap grew by from the first figure to the last, in bytes a message. */
  readonly growthPerMessageBytes: number;
}

const steps = 10;

/** Decodes a million messages and looks at what stays alive. Needs `--expose-gc`. */
export async function measureHeap(name: CorpusName, messages: number): Promise<HeapResult> {
  const { gc } = globalThis;
  if (gc === undefined) {
    throw new Error("the heap can only be measured under node --expose-gc");
  }
  const { records, schemas } = await loadCorpus(name);
  const decoder = createDecoder({ schemas });
  const decodePasses = async (passes: number): Promise<void> => {
    for (let pass = 0; pass < passes; pass++) {
      for (const record of records) {
        await decoder.decode(record);
      }
    }
  };
  const passesPerStep = Math.ceil(messages / steps / records.length);
  await decodePasses(passesPerStep);
  const heapBytes = [heapNow(gc)];
  for (let step = 0; step < steps; step++) {
    await decodePasses(passesPerStep);
    heapBytes.push(heapNow(gc));
  }
  const total = passesPerStep * records.length * steps;
  const growth = ((heapBytes.at(-1) ?? 0) - (heapBytes[0] ?? 0)) / total;
  return { name, messages: total, heapBytes, growthPerMessageBytes: growth };
}

function heapNow(gc: NodeJS.GCFunction): number {
  gc();
  return process.memoryUsage().heapUsed;
}
