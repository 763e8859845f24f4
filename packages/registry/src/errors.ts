import type { SchemaId, SchemaLoadFailure } from "@cdckit/decode";
import { helpUrlOf } from "./help-url.ts";

/** Whether asking again later can succeed. A new code does not compile without a row here. */
const retriableByCode: Readonly<Record<SchemaLoadFailure, boolean>> = {
  "not-found": false,
  unavailable: true,
  refused: false,
};

/** What a {@link RegistryError} carries beside its code and its message. */
export interface RegistryErrorOptions {
  /** The error that led to this one; absent if there was none. */
  readonly cause?: unknown;
  /** The schema id that was asked for; absent if the question was another one. */
  readonly id?: SchemaId | undefined;
  /** The registry that was asked, without userinfo. */
  readonly url?: string | undefined;
  /** The HTTP status; absent if there was no answer. */
  readonly status?: number | undefined;
  /** How long the registry has asked us to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /**
   * False if "not found" is about a schema that the asked one refers to.
   * @default true
   */
  readonly isCertain?: boolean | undefined;
  /**
   * False if what answered is no schema registry, or if nothing could be asked for want of credentials.
   * @default true
   */
  readonly isRegistry?: boolean | undefined;
}

// Shared through the global symbol registry, so that an error thrown by a second copy of this package still matches.
const brand = Symbol.for("@cdckit/registry/RegistryError");

/**
 * A schema that could not be loaded. The message says what was asked, what came back and what to do. Neither the message, nor the fields, nor
 * the causes hold a credential, or text that a server wrote. Recognise it with {@link isRegistryError}, never with `instanceof`.
 */
export class RegistryError extends Error {
  override readonly name = "RegistryError";
  /** What happened, for programs. The page at `helpUrl` explains it. */
  readonly code: SchemaLoadFailure;
  /** The page about this code: what happened, why, and what to do. */
  readonly helpUrl: string;
  /** The message without its code. */
  readonly detail: string;
  /** The schema id that was asked for; absent if the question was another one. */
  readonly id: SchemaId | undefined;
  /** The registry that was asked, without userinfo. */
  readonly url: string | undefined;
  /** The HTTP status; absent if there was no answer. */
  readonly status: number | undefined;
  /** How long the registry has asked us to wait. */
  readonly retryAfterMs: number | undefined;
  /** Whether "not found" is the registry's answer about the id itself. False if it is about a schema that this one refers to. */
  readonly isCertain: boolean;
  /**
   * False if the answer did not come from a schema registry: a redirect, a proxy's page, another service, an empty body; and if nothing was asked,
   * because a function of `auth` gave no credentials.
   */
  readonly isRegistry: boolean;

  constructor(code: SchemaLoadFailure, detail: string, options: RegistryErrorOptions = {}) {
    super(`[${code}] ${detail}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.helpUrl = helpUrlOf(code);
    this.detail = detail;
    this.id = options.id;
    this.url = options.url;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.isCertain = options.isCertain ?? true;
    this.isRegistry = options.isRegistry ?? true;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Its name, code and message, and what is known of the schema, the registry and its answer. */
  toJSON(): object {
    const { name, code, message, helpUrl, retriable, id, url, status, retryAfterMs } = this;
    return { name, code, message, helpUrl, retriable, id, url, status, retryAfterMs };
  }

  /** Whether asking again later can succeed. */
  get retriable(): boolean {
    return retriableByCode[this.code];
  }

  /** The same error, with a note at the end of its message. */
  withNote(note: string): RegistryError {
    return noted(this, note);
  }
}

// Outside of the class: the bundler renames a class that names itself, and Node prints that name (`_RegistryError`) when it prints the error.
function noted(error: RegistryError, note: string): RegistryError {
  return new RegistryError(error.code, `${error.detail}; ${note}`, { ...error, cause: error.cause });
}

/** Whether a value is a {@link RegistryError}, also one of another copy of this package. */
export function isRegistryError(value: unknown): value is RegistryError {
  try {
    return value instanceof Error && brand in value;
  } catch {
    return false; // a proxy whose traps throw
  }
}

/**
 * An answer that cannot be used. If it did not come from a registry, it is an outage, because the registry may be back soon. If it did, the
 * registry answers in a form that we do not read.
 */
export function unusableAnswer(detail: string, isRegistry: boolean, id: SchemaId | undefined): RegistryError {
  return new RegistryError(isRegistry ? "refused" : "unavailable", detail, { id, isRegistry });
}
