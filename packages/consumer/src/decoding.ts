import {
  type CdcEvent,
  type ColumnSelector,
  createDecoder,
  type Decoder,
  type DecoderOptions,
  type SchemaListener,
  type SchemaSource,
} from "@cdckit/decode";
import { createRegistry, type Registry, type RegistryOptions } from "@cdckit/registry";
import { ConsumerError } from "./errors.ts";
import { type HintWatchingDecoder, hintWatchingDecoder } from "./hint-watch.ts";
import type { Waits } from "./observe/waits.ts";
import type { ResolvedConsumerOptions } from "./options.ts";
import { isSubscribed } from "./subscribed-topics.ts";
import { guardedDecoder, guardedSource } from "./user-code/guarded-decoder.ts";
import { WatchedSchemaSource } from "./watched-schema-source.ts";

/** The decoder, and how to release what was made for it. */
export interface DecodingParts {
  readonly decoder: Decoder;
  readonly release: () => Promise<void>;
  /** What was noticed of the topics, in words. */
  readonly reasons: () => readonly string[];
  /** What is asked for schemas; null if there is nothing, or the decoder is the user's own. */
  readonly source: SchemaSource | null;
}

/** Our own decoder, which also reports topics that seem to lack a hint. */
function ownDecoder(
  options: ResolvedConsumerOptions,
  more: Pick<DecoderOptions, "schemas"> & Required<Pick<DecoderOptions, "onSchema" | "selectColumns">>,
): HintWatchingDecoder {
  const decoderOptions = options.decoder as Exclude<ResolvedConsumerOptions["decoder"], Decoder>; // the caller has looked
  const isTopic = (topic: string): boolean => isSubscribed(options.topics, topic);
  const { topics: hints = {}, onSchema: usersListener } = decoderOptions;
  const onSchema: SchemaListener = (seen) => {
    options.userFunctions.lookOn("decoder.onSchema", () => usersListener?.(seen));
    more.onSchema(seen);
  };
  return hintWatchingDecoder(decoderOf({ ...decoderOptions, ...more, onSchema }), {
    logger: options.logger,
    hints,
    isSubscribed: isTopic,
    hasWholeRows: (event) => hasWholeRows(event, more.selectColumns(event.record.topic)),
  });
}

function hasWholeRows(event: CdcEvent, select: ColumnSelector | null): boolean {
  const hasRows = event.kind === "change" || event.kind === "row";
  return hasRows && (select === null || select(event.table, event.kind === "row" ? "row" : event.op) === null);
}

/** Each message about a wrong option begins with the name of the option. */
function decoderOf(options: DecoderOptions): Decoder {
  try {
    return createDecoder(options);
  } catch (error) {
    throw new ConsumerError("invalid-option", `decoder.${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/**
 * The decoder of these options. `onSchema` gets the schemas, and `selectColumns` says which columns are read, unless the decoder is the
 * user's own.
 */
export function decodingOf(
  options: ResolvedConsumerOptions,
  waits: Waits,
  { onSchema, selectColumns }: { readonly onSchema: SchemaListener; readonly selectColumns: (topic: string) => ColumnSelector | null },
): DecodingParts {
  const { decoder, registry } = options;
  if ("decodeAt" in decoder) {
    return { decoder: guardedDecoder(decoder), release: nothingToRelease, reasons: () => [], source: null };
  }
  if (registry === undefined) {
    const watching = ownDecoder(options, { onSchema, selectColumns });
    return { decoder: watching, release: nothingToRelease, reasons: watching.reasons, source: null };
  }
  const own = isSchemaSource(registry) ? null : registryOf(registry);
  const schemas = new WatchedSchemaSource(own ?? guardedSource(registry as SchemaSource), { ...options, waits }); // one of the two
  const watching = ownDecoder(options, { schemas, onSchema, selectColumns });
  return {
    decoder: watching,
    reasons: watching.reasons,
    release: async () => {
      schemas.close();
      await own?.close();
    },
    source: own ?? (registry as SchemaSource), // one of the two
  };
}

function isSchemaSource(registry: unknown): registry is SchemaSource {
  if (typeof registry !== "object" || registry === null) {
    const found = registry === null ? "null" : `a ${typeof registry}`; // without its value: an address may hold a password
    throw new ConsumerError("invalid-option", `registry must be { url: "http://..." } or a schema source, got ${found}: set registry.url`);
  }
  return "peek" in registry;
}

/** The registry of these options. Each of its messages begins with the name of the wrong option. */
function registryOf(options: RegistryOptions): Registry {
  try {
    return createRegistry(options);
  } catch (error) {
    throw new ConsumerError("invalid-option", `registry.${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

async function nothingToRelease(): Promise<void> {}
