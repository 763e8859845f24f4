import { BenchError } from "../../bench-error.ts";
import type { RegistryConnection } from "../../load/connection.ts";
import { type Thing, withoutLogin } from "../thing.ts";
import { isNamed } from "./kafka.ts";

const timeoutMs = 20_000;

/**
 * Deletes subjects through Confluent's API, for good: first softly, as it demands.
 * @param access used for the registry that it names, and for no other
 */
export async function removeSubjects({ name, at }: Thing, access: RegistryConnection | undefined): Promise<void> {
  const headers = access !== undefined && withoutLogin(access.url) === at ? loginOf(access) : {};
  const origin = at.replace(/\/$/, "");
  const subjects = (await ask("GET", `${origin}/subjects`, headers)) as readonly string[];
  for (const subject of subjects.filter((found) => isNamed(found, name))) {
    const path = `${origin}/subjects/${encodeURIComponent(subject)}`;
    await ask("DELETE", path, headers);
    await ask("DELETE", `${path}?permanent=true`, headers);
  }
}

function loginOf({ url, auth }: RegistryConnection): Readonly<Record<string, string>> {
  const { username, password } = new URL(url);
  if (auth !== undefined && "bearer" in auth) {
    return { authorization: `Bearer ${auth.bearer}` };
  }
  const login = auth !== undefined && "basic" in auth ? auth.basic : username === "" ? undefined : decoded(username, password);
  return login === undefined ? {} : { authorization: `Basic ${Buffer.from(`${login.username}:${login.password}`).toString("base64")}` };
}

function decoded(username: string, password: string): { readonly username: string; readonly password: string } {
  return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
}

async function ask(method: string, url: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(url, { method, headers, redirect: "error", signal: AbortSignal.timeout(timeoutMs) });
  } catch (cause) {
    throw new BenchError("connection", `the registry at ${new URL(url).origin} does not answer`, { cause });
  }
  if (response.status === 404) {
    return []; // somebody else was faster
  }
  if (!response.ok) {
    throw new BenchError("connection", `the registry at ${new URL(url).origin} refuses (HTTP ${response.status})`);
  }
  return response.json();
}
