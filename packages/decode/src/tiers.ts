/**
 * The optimisations of decoding. `npm run bench -- tiers` measures the gain of each, and tests assert that each is taken. All are on, and
 * no option turns one off, because users have no reason to.
 */
export interface Tiers {
  /** Readers are generated as code. Without it, closures read Avro and Protobuf, and the parser reads JSON. */
  readonly generatedReaders: boolean;
  /** Records that begin like earlier ones skip detection. */
  readonly fastPath: boolean;
}

/** The global property in which a benchmark or a test turns tiers off, before it creates a decoder. */
export const tiersKey: unique symbol = Symbol.for("@cdckit/decode/tiers") as never;

const allOn: Tiers = { generatedReaders: true, fastPath: true };

/** Read once for each decoder. */
export function chosenTiers(): Tiers {
  const chosen = (globalThis as { readonly [tiersKey]?: Partial<Tiers> })[tiersKey];
  return chosen === undefined ? allOn : { ...allOn, ...chosen };
}
