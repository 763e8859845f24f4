import { createDecoder, type Decoder, type SchemaListener, type SchemaSource } from "@cdckit/decode";
import { createRegistry } from "@cdckit/registry";
import type { ResolvedConsumerOptions } from "./options.ts";

/** What decodes, and how to let go of what was made for it. */
export interface DecodingParts {
  readonly decoder: Decoder;
  readonly release: () => Promise<void>;
}

/** The decoder of these options. `onSchema` is told of schemas, save where the decoder is the user's own. */
export function decodingOf({ decoder, registry }: ResolvedConsumerOptions, onSchema: SchemaListener): DecodingParts {
  if ("decodeAt" in decoder) {
    return { decoder, release: nothingToRelease };
  }
  if (registry === undefined || isSchemaSource(registry)) {
    const schemas = registry === undefined ? {} : { schemas: registry };
    return { decoder: createDecoder({ ...decoder, ...schemas, onSchema }), release: nothingToRelease };
  }
  const own = createRegistry(registry);
  return { decoder: createDecoder({ ...decoder, schemas: own, onSchema }), release: () => own.close() };
}

function isSchemaSource(registry: object): registry is SchemaSource {
  return "peek" in registry;
}

async function nothingToRelease(): Promise<void> {}
