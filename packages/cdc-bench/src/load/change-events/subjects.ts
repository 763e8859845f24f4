import { BenchError } from "../../bench-error.ts";
import type { RegistryConnection } from "../connection.ts";

const timeoutMs = 10_000;
const maxSaidLength = 200;

/** The subjects of a topic, as Confluent's `TopicNameStrategy` names them. */
export function subjectsOf(topic: string): readonly string[] {
  return [`${topic}-key`, `${topic}-value`];
}

/** A request of Confluent's API. */
export async function askRegistry({ url, auth }: RegistryConnection, path: string, request: RequestInit): Promise<unknown> {
  const address = new URL(url);
  const userinfo = address.username === "" ? null : `${decodeURIComponent(address.username)}:${decodeURIComponent(address.password)}`;
  address.username = "";
  address.password = "";
  const where = address.href.replace(/\/+$/, "");
  const login = await authorization(auth, userinfo);
  const headers = { "content-type": "application/vnd.schemaregistry.v1+json", ...(login !== null && { authorization: login }) };
  let response: Response;
  try {
    response = await fetch(`${where}/${path}`, { ...request, headers, signal: AbortSignal.timeout(timeoutMs), redirect: "error" });
  } catch (error) {
    throw new BenchError("connection", `the registry at ${where} cannot be reached (${reasonOf(error)}).`, { cause: error });
  }
  const text = await response.text();
  if (!response.ok) {
    const said = text.replace(/\s+/g, " ").slice(0, maxSaidLength);
    throw new BenchError("connection", `the registry at ${where} answered ${response.status} to ${path}: ${said}`);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

async function authorization(auth: RegistryConnection["auth"], userinfo: string | null): Promise<string | null> {
  if (auth !== undefined && "bearer" in auth) {
    return `Bearer ${auth.bearer}`;
  }
  const basic = auth === undefined ? userinfo : `${auth.basic.username}:${auth.basic.password}`;
  return basic === null ? null : `Basic ${Buffer.from(basic).toString("base64")}`;
}

function reasonOf(error: unknown): string {
  const cause = (error as { readonly cause?: { readonly code?: unknown } }).cause;
  return typeof cause?.code === "string" ? cause.code : (error as Error).name;
}
