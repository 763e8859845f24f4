import { apicurioInfoQuestion } from "./apicurio-api.ts";
import { isTextList, subjectsQuestion, typesQuestion } from "./confluent-api.ts";
import type { RegistryDialect } from "./dialect.ts";
import type { Endpoint } from "./endpoint.ts";
import { isRegistryError, type RegistryError } from "./errors.ts";
import { isObject } from "./schema-answer.ts";
import type { Transport } from "./transport.ts";

/** The answer of one address to a reachability check. */
export interface RegistryPing {
  /** The address, without userinfo. */
  readonly url: string;
  /** Whether a schema registry answers there. */
  readonly ok: boolean;
  /** The HTTP status; undefined if there was no answer. */
  readonly status: number | undefined;
  /**
   * True if asking again cannot help: what answered is no registry, or it does not know the credentials. False if there was no answer, or a 403:
   * schemas by id may be allowed all the same.
   */
  readonly isPermanent: boolean;
  /** What was found, as a sentence. */
  readonly detail: string;
}

/** Asks one address once. Never rejects: a failure is a result, too. */
export async function pingEndpoint(endpoint: Endpoint, dialect: RegistryDialect, transport: Transport): Promise<RegistryPing> {
  const { url } = endpoint;
  try {
    const found =
      dialect === "apicurio"
        ? infoOf(await transport.jsonOnce(endpoint, apicurioInfoQuestion))
        : await confluentAnswer(endpoint, transport);
    return found === null
      ? {
          url,
          ok: false,
          status: 200,
          isPermanent: true,
          detail: `${url} answers, but not as a schema registry does: is url the root of its API`,
        }
      : { url, ok: true, status: 200, isPermanent: false, detail: `${url} answers as a schema registry (${found})` };
  } catch (error) {
    if (!isRegistryError(error)) {
      throw error;
    }
    return { url, ok: false, status: error.status, isPermanent: isPermanent(error), detail: error.detail };
  }
}

/**
 * A 403 is about this question alone: who may read schemas by id need not be allowed to list their types. A 401 is, at a start, also if a function
 * gives the credentials: whoever has just set it up must learn that they are wrong.
 */
function isPermanent({ retriable, isRegistry, status }: RegistryError): boolean {
  return (!retriable && status !== 403) || status === 401 || !isRegistry;
}

/**
 * Registries that do not have the list of types yet (Confluent's before 5.5) answer 404 to it. They have the list of subjects. A 404 with the
 * error code of a registry shows a registry, too.
 */
async function confluentAnswer(endpoint: Endpoint, transport: Transport): Promise<string | null> {
  try {
    return typesOf(await transport.jsonOnce(endpoint, typesQuestion));
  } catch (error) {
    if (!isRegistryError(error) || error.status !== 404) {
      throw error;
    }
    if (error.code === "not-found") {
      return "it does not list its types";
    }
    const subjects = await transport.jsonOnce(endpoint, subjectsQuestion).catch(() => null);
    if (!isTextList(subjects)) {
      throw error;
    }
    return "it does not list its types";
  }
}

function typesOf(types: unknown): string | null {
  return isTextList(types)
    ? types
        .filter((type) => /^[A-Z]{1,20}$/.test(type))
        .slice(0, 8)
        .join(", ")
    : null;
}

function infoOf(info: unknown): string | null {
  const version = isObject(info) ? info["version"] : undefined;
  return typeof version === "string" ? `Apicurio${/^[\w.+-]{1,40}$/.test(version) ? ` ${version}` : ""}` : null;
}
