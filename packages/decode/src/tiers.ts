/**
 * The optimisations of decoding that can be told apart. `npm run bench -- tiers` measures what each is worth, and tests assert that each is
 * taken. They are all on, and no option turns one off: whoever decodes has no reason to.
 */
export interface Tiers {
  /** Readers are generated as code. Without it, closures read (Avro, Protobuf), or the parser does (JSON). */
  readonly generatedReaders: boolean;
  /** Records that begin like those before skip detection. */
  readonly fastPath: boolean;
  /** Short texts that were read before are remembered. */
  readonly textCache: boolean;
}

/** A benchmark or a test puts the tiers that it turns off here before it creates a decoder. */
export const tiersKey: unique symbol = Symbol.for("@cdckit/decode/tiers") as never;

const allOn: Tiers = { generatedReaders: true, fastPath: true, textCache: true };

/** Asked once for each decoder. */
export function chosenTiers(): Tiers {
  const chosen = (globalThis as { readonly [tiersKey]?: Partial<Tiers> })[tiersKey];
  return chosen === undefined ? allOn : { ...allOn, ...chosen };
}
