import { printable } from "../report/text-width.ts";

/** What a command can make outside of its process, in the order in which it is removed: first who writes, then what was written. */
export const thingKinds = [
  "connector",
  "consumer-group",
  "transactional-id",
  "topic",
  "registry-subject",
  "replication-slot",
  "publication",
  "table",
  "database-schema",
  "redis-key",
] as const;

export type ThingKind = (typeof thingKinds)[number];

/** One thing that a command makes and deletes again. */
export interface Thing {
  readonly kind: ThingKind;
  /**
   * As its server knows it: `schema.name` of a table. A topic or a registry's subject may end in `*`, which none of their names has: all that
   * start so, since connectors name what they make.
   */
  readonly name: string;
  /**
   * Where it is, without user and password: `host:port,host:port` of brokers, otherwise the address of Kafka Connect or the registry
   * (`http://...`), of the
   * database (`postgres://host:port/name`, `mariadb://host:port/name`) or of Redis (`redis://host:port/0`). {@link withoutLogin} makes it.
   */
  readonly at: string;
}

/** An address without user, password, query and fragment, which may hold secrets. */
export function withoutLogin(address: string): string {
  const url = new URL(address);
  url.username = "";
  url.password = "";
  url.search = "";
  url.hash = "";
  return url.href;
}

/**
 * The first of these addresses that means the place of a {@link Thing}, with its login; otherwise the place itself. A place that a file names
 * never learns a password that was meant for another one.
 */
export function withLogin(at: string, addresses: readonly (string | undefined)[]): string {
  return addresses.find((address) => address !== undefined && URL.canParse(address) && withoutLogin(address) === at) ?? at;
}

/** `topic cdc-bench-1 at localhost:9092`. Shown without control characters and those that turn the direction of text: a file could hold any. */
export function thingText({ kind, name, at }: Thing): string {
  return printable(`${kind.replaceAll("-", " ")} ${name} at ${at}`);
}

export function isSameThing(a: Thing, b: Thing): boolean {
  return a.kind === b.kind && a.name === b.name && a.at === b.at;
}

/** Things in the order in which they can be removed; of one kind, the last first. */
export function inRemovalOrder(things: readonly Thing[]): readonly Thing[] {
  return things.toReversed().sort((a, b) => thingKinds.indexOf(a.kind) - thingKinds.indexOf(b.kind));
}
