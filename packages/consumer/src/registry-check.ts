import type { SchemaSource } from "@cdckit/decode";
import type { RegistryPing } from "@cdckit/registry";
import { ConsumerError } from "./errors.ts";
import type { Logger } from "./observe/logger.ts";

/** A schema source that can be asked whether its addresses answer: what `createRegistry` of @cdckit/registry gives. */
interface Pingable {
  ping(): Promise<readonly RegistryPing[]>;
}

/**
 * Asks a registry once, at the start, whether it is one. Resolves with the error to halt with if every address answered, and none as a
 * registry. Otherwise a wrong path would look like an outage, which is waited for. If an address does not answer at all, it may come back,
 * and one that answers 403 may still give schemas by id: that is logged, and is no error. `hasEnded`: whether the consumer has, which asks
 * nobody any more. Sources that cannot be asked are used as they are. Never rejects.
 */
export async function checkRegistry(source: SchemaSource, logger: Logger, hasEnded: () => boolean): Promise<ConsumerError | null> {
  if (!isPingable(source)) {
    return null;
  }
  const pings = await pingsOf(source);
  if (hasEnded()) {
    return null; // a start that failed has closed the registry's client: that it does not answer would be a second, wrong reason
  }
  const details = pings.map(({ detail }) => detail).join("; ");
  if (pings.some(({ ok }) => ok) || pings.length === 0) {
    return null;
  }
  if (pings.every(({ isPermanent }) => isPermanent)) {
    return new ConsumerError("registry-unusable", `expected a schema registry at registry.url: ${details}`);
  }
  const isForbidden = pings.some(({ status }) => status === 403);
  logger.warn(
    { registries: pings.map(({ url }) => url) },
    isForbidden
      ? `the registry could not be checked: ${details}; a check needs more than schemas by id, which may be allowed all the same`
      : `the registry does not answer: ${details}; records whose schemas are unknown wait for it`,
  );
  return null;
}

/** None if the source is the user's own and cannot say what is wrong. */
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
