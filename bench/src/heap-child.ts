import { measureHeap } from "./cases/heap.ts";
import type { CorpusName } from "./corpus.ts";

const [name, messages] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await measureHeap(name as CorpusName, Number(messages))));
