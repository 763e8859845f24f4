import type { ResolvedPostgresOptions } from "./options.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What a `pg.Pool` knows about its server. Pools of other libraries may know nothing. */
interface Address {
  readonly host?: unknown;
  readonly port?: unknown;
  readonly database?: unknown;
  readonly connectionString?: unknown;
}

/** The name of the target in messages and health reports: `host:port/database`, without user and password. */
export function hostOf({ pool, connectionString }: Pick<ResolvedPostgresOptions, "pool" | "connectionString">, env: Environment): string {
  const own = (pool as { readonly options?: Address } | null)?.options ?? {};
  const url = connectionString ?? own.connectionString;
  const { host, port, database }: Address = typeof url === "string" ? addressIn(url) : own;
  const address = `${text(host) ?? env["PGHOST"] ?? "localhost"}:${text(port) ?? env["PGPORT"] ?? 5432}`;
  const name = text(database) ?? env["PGDATABASE"];
  return name === undefined ? address : `${address}/${name}`;
}

/** pg takes URLs, and paths of sockets. */
function addressIn(url: string): Address {
  if (!URL.canParse(url)) {
    return {};
  }
  const { hostname, port, pathname, searchParams } = new URL(url);
  return { host: searchParams.get("host") ?? hostname, port: searchParams.get("port") ?? port, database: pathname.slice(1) };
}

function text(value: unknown): string | undefined {
  const isReported = (typeof value === "string" && value !== "") || typeof value === "number";
  return isReported ? String(value) : undefined;
}
