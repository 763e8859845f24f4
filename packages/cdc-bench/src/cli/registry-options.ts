import { BenchError } from "../bench-error.ts";
import type { RegistryConnection } from "../load/connection.ts";
import type { Terminal } from "../terminal.ts";
import { envValue } from "./env-value.ts";
import { parseRegistryUrl } from "./option-values.ts";
import type { SourceFlags } from "./source-options.ts";

/** The registry of flags and environment, with its credentials, which come by environment alone; undefined if none is named. */
export function resolveRegistry(
  flags: Pick<SourceFlags, "registry" | "registryIds">,
  env: Terminal["env"],
): RegistryConnection | undefined {
  const url = flags.registry ?? envValue("SCHEMA_REGISTRY_URL", env, parseOneUrl);
  const numericIds = flags.registryIds;
  if (url !== undefined) {
    return { url, ...resolveAuth(url, env), ...(numericIds !== undefined && { numericIds }) };
  }
  if (numericIds !== undefined) {
    throw new BenchError("usage", "--registry-ids says how a registry reads ids: give --registry URL, too (env SCHEMA_REGISTRY_URL).");
  }
  return undefined;
}

function resolveAuth(url: string, env: Terminal["env"]): Pick<RegistryConnection, "auth"> {
  const javas = envValue("SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO", env, parseUserInfo);
  const username = envValue("SCHEMA_REGISTRY_USERNAME", env, String);
  const password = envValue("SCHEMA_REGISTRY_PASSWORD", env, String);
  const token = envValue("SCHEMA_REGISTRY_TOKEN", env, String);
  const javasToken = envValue("SCHEMA_REGISTRY_BEARER_AUTH_TOKEN", env, String);
  const bearer = token ?? javasToken;
  if ((username === undefined) !== (password === undefined)) {
    const [lone, other] = username === undefined ? ["PASSWORD", "USERNAME"] : ["USERNAME", "PASSWORD"];
    throw new BenchError("usage", `SCHEMA_REGISTRY_${lone} goes with SCHEMA_REGISTRY_${other}: give both, or neither.`);
  }
  refuseTwo([
    new URL(url).username !== "" && "the user in the registry's address",
    username !== undefined && "SCHEMA_REGISTRY_USERNAME",
    token !== undefined && "SCHEMA_REGISTRY_TOKEN",
    javas !== undefined && "SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO",
    javasToken !== undefined && "SCHEMA_REGISTRY_BEARER_AUTH_TOKEN",
  ]);
  if (javas !== undefined) {
    return { auth: { basic: javas } };
  }
  if (username !== undefined && password !== undefined) {
    return { auth: { basic: { username, password } } };
  }
  return bearer === undefined ? {} : { auth: { bearer } };
}

function refuseTwo(logins: readonly (string | false)[]): void {
  const [first, second] = logins.filter((login) => login !== false);
  if (second !== undefined) {
    throw new BenchError("usage", `${first} and ${second} are two ways to log in to the registry: give one of them.`);
  }
}

/** A service may have several addresses of one registry in the variable. */
function parseOneUrl(text: string): string {
  if (text.includes(",")) {
    throw new TypeError("cdc-bench asks one address of a registry: give one of them by --registry.");
  }
  return parseRegistryUrl(text);
}

function parseUserInfo(text: string): { readonly username: string; readonly password: string } {
  const colon = text.indexOf(":");
  if (colon < 1) {
    throw new TypeError("It must be user:password.");
  }
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
