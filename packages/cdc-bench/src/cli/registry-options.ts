import { BenchError } from "../bench-error.ts";
import type { RegistryConnection } from "../load/connection.ts";
import type { Terminal } from "../terminal.ts";
import { envValue } from "./env-value.ts";
import { parseRegistryUrl } from "./option-values.ts";

/** The registry of flag and environment, with its credentials, which come by environment alone; undefined if none is named. */
export function resolveRegistry(flag: string | undefined, env: Terminal["env"]): RegistryConnection | undefined {
  const url = flag ?? envValue("SCHEMA_REGISTRY_URL", env, parseRegistryUrl);
  if (url === undefined) {
    return undefined;
  }
  const username = envValue("SCHEMA_REGISTRY_USERNAME", env, String);
  const password = envValue("SCHEMA_REGISTRY_PASSWORD", env, String);
  const bearer = envValue("SCHEMA_REGISTRY_TOKEN", env, String);
  if ((username === undefined) !== (password === undefined)) {
    const [lone, other] = username === undefined ? ["PASSWORD", "USERNAME"] : ["USERNAME", "PASSWORD"];
    throw new BenchError("usage", `SCHEMA_REGISTRY_${lone} goes with SCHEMA_REGISTRY_${other}: give both, or neither.`);
  }
  refuseTwo([
    new URL(url).username !== "" && "the user in the registry's address",
    username !== undefined && "SCHEMA_REGISTRY_USERNAME",
    bearer !== undefined && "SCHEMA_REGISTRY_TOKEN",
  ]);
  if (username !== undefined && password !== undefined) {
    return { url, auth: { basic: { username, password } } };
  }
  return bearer === undefined ? { url } : { url, auth: { bearer } };
}

function refuseTwo(logins: readonly (string | false)[]): void {
  const [first, second] = logins.filter((login) => login !== false);
  if (second !== undefined) {
    throw new BenchError("usage", `${first} and ${second} are two ways to log in to the registry: give one of them.`);
  }
}
