import type { RegisteredSchema, SchemaId, SchemaSource } from "@cdckit/decode";
import { CachingSource } from "./caching-source.ts";
import { isTextList } from "./confluent-api.ts";
import { withDeadline } from "./deadline.ts";
import { isRegistryError, RegistryError, unusableAnswer } from "./errors.ts";
import { isContentCode, isTransient } from "./http-status.ts";
import type { ResolvedAdapterOptions } from "./options.ts";
import { quoted } from "./quoted.ts";
import { resolveReferences } from "./references.ts";
import { type ReferenceLink, readSchemaAnswer } from "./schema-answer.ts";
import { isNumericId } from "./schema-id.ts";
import { systemCode } from "./system-code.ts";

/** Another registry client, reduced to the two questions that we ask. Both resolve with the registry's answer, whatever it is. */
export interface ForeignClient {
  /** Its name in messages. */
  readonly name: string;
  /** The status that it makes up if there was no answer; absent if it makes up none. */
  readonly noAnswerStatus?: number;
  /** Resolves with a list of names if a registry answers. Absent if the client has no ids whose path a registry may be without. */
  names?(): Promise<unknown>;
  schemaById(id: SchemaId): Promise<unknown>;
  referencedVersion(link: ReferenceLink): Promise<unknown>;
}

/** A schema source that asks another client, with our cache, bounds and errors around it. */
export function adaptedSource(client: ForeignClient, options: ResolvedAdapterOptions): SchemaSource {
  const { cache, clock, random } = options;
  return new CachingSource({ cache, clock, random, fetchSchema: (id) => fetchWithin(client, options, id) });
}

function fetchWithin(client: ForeignClient, options: ResolvedAdapterOptions, id: SchemaId): Promise<RegisteredSchema> {
  const { clock, timeoutMs } = options;
  const onTimeout = (): Error => {
    const detail = `${client.name} did not answer schema id ${id} within ${timeoutMs} ms: is its registry overloaded, or is timeoutMs too short`;
    return new RegistryError("unavailable", detail, { id });
  };
  return withDeadline({ clock, timeoutMs, onTimeout }, (signal) => fetchAll(client, options, id, signal));
}

async function fetchAll(
  client: ForeignClient,
  options: ResolvedAdapterOptions,
  id: SchemaId,
  signal: AbortSignal,
): Promise<RegisteredSchema> {
  const ask = async (what: string, question: () => Promise<unknown>) => {
    signal.throwIfAborted(); // the time is up, and nobody waits for the rest of the schema
    const schema = readSchemaAnswer(await question().catch((error: unknown) => Promise.reject(failureOf(error, client, what, id))));
    if ("wrong" in schema) {
      throw unusableAnswer(`the answer of ${client.name} to ${what} ${schema.wrong}: does it ask a schema registry`, schema.isRegistry, id);
    }
    return schema;
  };
  const root = await ask(`schema id ${id}`, () => client.schemaById(id)).catch((failure: unknown) => rootFailure(failure, client, id));
  const bounds = { maxReferences: options.maxReferences, maxBytes: options.maxBodyBytes };
  return resolveReferences(id, root, bounds, (link) => {
    const what = `subject ${quoted(link.subject)} version ${link.version}, which schema id ${id} refers to`;
    return ask(what, () => client.referencedVersion(link));
  });
}

/**
 * Many registries are without the path of GUIDs, and other bytes may look like one. If the registry answers another question, its 404 is no
 * outage, which would be waited for without end.
 */
async function rootFailure(failure: unknown, client: ForeignClient, id: SchemaId): Promise<never> {
  const isDoubtful = isRegistryError(failure) && failure.status === 404 && failure.code === "unavailable" && !isNumericId(id);
  if (isDoubtful && isTextList(await client.names?.().catch(() => null))) {
    const detail = `${client.name} did not find schema id ${id} (404): it asks a registry, but one without the path for such ids`;
    throw new RegistryError("not-found", detail, { id, status: 404 });
  }
  throw failure;
}

/** The original error is not kept as the cause, because these clients attach their whole configuration to it, credentials included. */
function failureOf(error: unknown, client: ForeignClient, what: string, id: SchemaId): RegistryError {
  if (isRegistryError(error)) {
    return error;
  }
  const given = statusOf(error);
  const status = given === client.noAnswerStatus ? undefined : given;
  if (status === undefined || isTransient(status)) {
    const why = status ?? systemCode(error);
    return new RegistryError("unavailable", `${client.name} could not get ${what} (${why}): ask again later`, { id, status });
  }
  if (status === 404 && !isRegistrysOwn(error)) {
    const detail = `${client.name} got a 404 for ${what} that is not a registry's own: is something else in front of it, or the address wrong`;
    return new RegistryError("unavailable", detail, { id, status, isRegistry: false });
  }
  if (status === 404) {
    const detail = `${client.name} did not find ${what} (404): does it ask the registry that the producer wrote to`;
    return new RegistryError("not-found", detail, { id, status });
  }
  return new RegistryError("refused", `${client.name} was refused ${what} (${status}): check its address and credentials`, { id, status });
}

/**
 * Whether the registry itself has answered 404. If the client passes the registry's error code on, the code tells. If not, the registry's
 * sentence tells, and nothing of it is kept. A proxy's page has neither.
 */
function isRegistrysOwn(error: unknown): boolean {
  const { errorCode, message } = (error ?? {}) as { readonly errorCode?: unknown; readonly message?: unknown };
  return typeof errorCode === "number"
    ? isContentCode(errorCode)
    : typeof message === "string" &&
        /\b(schema|subject|version|artifact|content)\b.*\bnot found\b|\bno (schema|content|artifact)\b/i.test(message);
}

function statusOf(error: unknown): number | undefined {
  const status = typeof error === "object" && error !== null ? (error as { status?: unknown }).status : undefined;
  return typeof status === "number" && status >= 400 && status <= 599 ? status : undefined;
}
