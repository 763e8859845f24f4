import { createDecoder, type Decoder, type DecoderOptions, type SchemaListener, type SchemaSource } from "@cdckit/decode";
import { createRegistry } from "@cdckit/registry";
import { hintWatchingDecoder } from "./hint-watch.ts";
import type { Waits } from "./observe/waits.ts";
import type { ResolvedConsumerOptions } from "./options.ts";
import { isSubscribed } from "./subscribed-topics.ts";
import { guardedDecoder, guardedSource } from "./user-code/guarded-decoder.ts";
import { WatchedSchemaSource } from "./watched-schema-source.ts";

/** The decoder, and how to release what was made for it. */
export interface DecodingParts {
  readonly decoder: Decoder;
  readonly release: () => Promise<void>;
  /** What is asked for schemas; null if there is nothing, or the decoder is the user's own. */
  readonly source: SchemaSource | null;
}

/** Our own decoder, which also reports topics that seem to lack a hint. */
function ownDecoder(options: ResolvedConsumerOptions, more: Pick<DecoderOptions, "schemas" | "onSchema">): Decoder {
  const decoderOptions = options.decoder as Exclude<ResolvedConsumerOptions["decoder"], Decoder>; // the caller has looked
  const isTopic = (topic: string): boolean => isSubscribed(options.topics, topic);
  const hints = decoderOptions.topics ?? {};
  return hintWatchingDecoder(createDecoder({ ...decoderOptions, ...more }), { logger: options.logger, hints, isSubscribed: isTopic });
}

/** The decoder of these options. `onSchema` gets the schemas, unless the decoder is the user's own. */
export function decodingOf(options: ResolvedConsumerOptions, waits: Waits, onSchema: SchemaListener): DecodingParts {
  const { decoder, registry } = options;
  if ("decodeAt" in decoder) {
    return { decoder: guardedDecoder(decoder), release: nothingToRelease, source: null };
  }
  if (registry === undefined) {
    return { decoder: ownDecoder(options, { onSchema }), release: nothingToRelease, source: null };
  }
  const own = isSchemaSource(registry) ? null : createRegistry(registry);
  const schemas = new WatchedSchemaSource(own ?? guardedSource(registry as SchemaSource), { ...options, waits }); // one of the two
  return {
    decoder: ownDecoder(options, { schemas, onSchema }),
    release: async () => {
      schemas.close();
      await own?.close();
    },
    source: own ?? (registry as SchemaSource), // one of the two
  };
}

function isSchemaSource(registry: object): registry is SchemaSource {
  return "peek" in registry;
}

async function nothingToRelease(): Promise<void> {}
