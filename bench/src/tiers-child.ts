import { measureTier, type TierOff } from "./cases/tiers.ts";
import type { CorpusName } from "./corpus.ts";

const [corpus, off, measureMs] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await measureTier(corpus as CorpusName, off as TierOff, Number(measureMs))));
