import type { SchemaSource } from "@cdckit/decode";
import type { RegistryPing } from "@cdckit/registry";
import { ConsumerError } from "./errors.ts";
import type { Logger } from "./observe/logger.ts";

/** A schema source that can be asked whether anybody is there: what `createRegistry` of @cdckit/registry gives. */
interface Pingable {
  ping(): Promise<readonly RegistryPing[]>;
}

/**
 * Asks a registry once, at the start, whether it is one. Resolves with the error to halt with if every address answered and none of them as
 * a registry: a wrong path would else look like an outage, which is waited for. An address that does not answer at all may come back, so it
 * is logged and no error. Sources that cannot be asked are taken as they are. Never rejects.
 */
export async function checkRegistry(source: SchemaSource, logger: Logger): Promise<ConsumerError | null> {
  if (!isPingable(source)) {
    return null;
  }
  const pings = await pingsOf(source);
  const details = pings.map(({ detail }) => detail).join("; ");
  if (pings.some(({ ok }) => ok) || pings.length === 0) {
    return null;
  }
  if (pings.every(({ isPermanent }) => isPermanent)) {
    return new ConsumerError("registry-unusable", `expected a schema registry at registry.url: ${details}`);
  }
  logger.warn(
    { registries: pings.map(({ url }) => url) },
    `the registry does not answer: ${details}; records whose schemas are unknown wait for it`,
  );
  return null;
}

/** None from a source of the user's own that cannot say what is wrong. */
async function pingsOf(source: Pingable): Promise<readonly RegistryPing[]> {
  try {
    return await source.ping();
  } catch {
    return [];
  }
}

function isPingable(source: object): source is Pingable {
  return "ping" in source && typeof source.ping === "function";
}
