import type { ClusterConnection, RegistryConnection } from "../load/connection.ts";
import type { RemoveThing } from "./leftovers.ts";
import { createConnectorRemover } from "./removers/connector.ts";
import { createDatabaseRemovers } from "./removers/database.ts";
import { createKafkaRemovers } from "./removers/kafka.ts";
import { createRedisKeyRemover } from "./removers/redis-key.ts";
import { removeSubjects } from "./removers/registry-subject.ts";
import type { ThingKind } from "./thing.ts";

/**
 * The addresses and logins that a command was given. A thing elsewhere is asked for without a login: what a file names must not learn a
 * password that was meant for another place.
 */
export interface RemoverAccess {
  readonly connection?: ClusterConnection | undefined;
  /** Of Kafka Connect. Its userinfo is its login. */
  readonly connectUrl?: string | undefined;
  readonly registry?: RegistryConnection | undefined;
  /** Of every database that the command was given. If two name the same one, the first is used. */
  readonly databaseUrls?: readonly (string | undefined)[] | undefined;
  readonly redisUrl?: string | undefined;
}

export interface Remover {
  readonly remove: RemoveThing;
  /** Closes the connections that were needed. */
  close(): Promise<void>;
}

/** The one place that knows how each kind of thing is removed. Connects when the first thing of a place is to go. */
export function createRemover(access: RemoverAccess): Remover {
  const kafka = createKafkaRemovers(access.connection);
  const database = createDatabaseRemovers(access.databaseUrls ?? []);
  const redis = createRedisKeyRemover(access.redisUrl);
  const removers: Readonly<Record<ThingKind, RemoveThing>> = {
    connector: createConnectorRemover(access.connectUrl),
    "consumer-group": kafka.removeGroup,
    // Kafka has no request for it: an id that nobody uses expires (transactional.id.expiration.ms), and holds no data.
    "transactional-id": async () => {},
    topic: kafka.removeTopic,
    "registry-subject": (thing) => removeSubjects(thing, access.registry),
    "replication-slot": database.dropSlot,
    publication: database.dropPublication,
    table: database.dropTable,
    "database-schema": database.dropSchema,
    "redis-key": redis.removeKey,
  };
  return {
    remove: (thing) => removers[thing.kind](thing),
    close: async () => {
      await Promise.all([kafka.close(), database.close(), redis.close()]);
    },
  };
}
