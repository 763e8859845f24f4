import { inspect } from "node:util";
import { RegistryError } from "./errors.ts";
import { isError } from "./is-error.ts";

/**
 * Credentials: a user name and a password, a token, or a function that returns one of both. The function is called before every request, so that it
 * may give others after a rotation. While it gives nothing that can be sent, or the registry refuses what it gives (401), it is asked again as after an
 * outage.
 */
export type RegistryAuth =
  | { readonly basic: RegistryLogin | (() => RegistryLogin | Promise<RegistryLogin>) }
  | { readonly bearer: string | (() => string | Promise<string>) };

/** A user name and its password. */
export interface RegistryLogin {
  /** Without a colon. */
  readonly username: string;
  /** It is never logged. */
  readonly password: string;
}

// A shorter secret is found in messages by chance, and hiding it protects nothing.
const minSecretChars = 4;

// A request under way has one of the last credentials. All of them would fill the memory of a process that lives long.
const maxFreshCredentials = 16;

/** One address of a registry, with the credentials for it. No field, no message and no `inspect` shows the credentials. */
export class Endpoint {
  /** The address without userinfo and without a slash at its end. */
  readonly url: string;
  /** The option whose function gives the credentials; null if they never change. */
  readonly credentialFunction: "auth.basic" | "auth.bearer" | null;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #authorize: () => Promise<string | undefined>;
  readonly #secrets = new Set<string>();
  /** Header to the secrets in it, the last ones that functions gave. */
  readonly #fresh = new Map<string, readonly string[]>();

  constructor(address: string | URL, auth: RegistryAuth | undefined, headers: Readonly<Record<string, string>> = {}) {
    const parsed = parseAddress(address);
    this.url = `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, "");
    this.#headers = checkHeaders(headers);
    const sole = soleAuth(auth, authOfUserinfo(parsed), headers);
    this.credentialFunction = functionOf(sole);
    this.#authorize = this.#authorization(sole);
    for (const value of Object.values(headers)) {
      this.#hide(value);
    }
  }

  /** The headers of one request. If a function gives the credentials, it is called for each request. */
  async requestHeaders(): Promise<Record<string, string>> {
    const authorization = await this.#authorize();
    return authorization === undefined ? { ...this.#headers } : { ...this.#headers, authorization };
  }

  /** The error as a cause that may be shown: the error itself, or a replacement if anything in it holds one of our secrets. */
  safeCause(error: unknown): unknown {
    const shown = inspect(error, { depth: 10, showHidden: true, maxStringLength: null, maxArrayLength: null });
    for (const secret of [...this.#secrets, ...[...this.#fresh.values()].flat()]) {
      if (shown.includes(secret)) {
        return new Error("the cause is withheld because it held credentials");
      }
    }
    return error;
  }

  #authorization(auth: RegistryAuth | undefined): () => Promise<string | undefined> {
    if (auth === undefined) {
      return async () => undefined;
    }
    if ("basic" in auth) {
      const { basic } = auth;
      if (typeof basic === "function") {
        return async () => this.#rememberFresh(loginHeader(await this.#fresherLogin(basic)));
      }
      const wrong = wrongInLogin(basic);
      if (wrong !== null) {
        throw new TypeError(`auth.basic${wrong}`);
      }
      const { header, secrets } = loginHeader(basic);
      secrets.forEach((secret) => this.#hide(secret));
      return async () => header;
    }
    const { bearer } = auth;
    if (typeof bearer === "function") {
      return async () => {
        const token = await this.#fresherToken(bearer);
        return this.#rememberFresh({ header: `Bearer ${token}`, secrets: [token] });
      };
    }
    if (!isToken(bearer)) {
      throw new TypeError(`auth.bearer must be ${tokenInWords}, or a function that returns it`);
    }
    this.#hide(bearer);
    return async () => `Bearer ${bearer}`;
  }

  async #fresherLogin(give: () => RegistryLogin | Promise<RegistryLogin>): Promise<RegistryLogin> {
    const login = await this.#fromFunction("auth.basic", give);
    if (wrongInLogin(login) !== null) {
      const detail = `auth.basic must return { username, password }, both of them text, and no colon in the user name, to ask ${this.url}`;
      throw this.#withoutCredentials(detail);
    }
    return login as RegistryLogin; // checked in the lines before
  }

  async #fresherToken(give: () => string | Promise<string>): Promise<string> {
    const token = await this.#fromFunction("auth.bearer", give);
    // fetch would refuse such a header too, but would quote the token in its message.
    if (!isToken(token)) {
      throw this.#withoutCredentials(`auth.bearer must return ${tokenInWords} to ask ${this.url}`);
    }
    return token;
  }

  /**
   * The function may give others a moment later: while a secret is replaced, a file can be empty. At a start this ends the consumer all the same,
   * because no registry was found: a function that never gives any was just set up.
   */
  #withoutCredentials(detail: string): RegistryError {
    return new RegistryError("unavailable", detail, { url: this.url, isRegistry: false });
  }

  async #fromFunction(option: string, give: () => unknown): Promise<unknown> {
    try {
      return await give();
    } catch (error) {
      // Its message and fields are the user's own, and may hold a client secret. Only its name is passed on.
      const name = isError(error) ? error.name : typeof error;
      throw new RegistryError("unavailable", `${option} failed with ${name} before ${this.url} could be asked`, { url: this.url });
    }
  }

  #rememberFresh({ header, secrets }: Credential): string {
    this.#fresh.delete(header); // what is used again is the last one again
    this.#fresh.set(
      header,
      secrets.filter((secret) => secret.length >= minSecretChars),
    );
    if (this.#fresh.size > maxFreshCredentials) {
      const [oldest] = this.#fresh.keys();
      this.#fresh.delete(oldest as string); // the map is not empty
    }
    return header;
  }

  #hide(secret: string): void {
    if (secret.length >= minSecretChars) {
      this.#secrets.add(secret);
    }
  }
}

interface Credential {
  readonly header: string;
  readonly secrets: readonly string[];
}

function functionOf(auth: RegistryAuth | undefined): Endpoint["credentialFunction"] {
  if (auth === undefined) {
    return null;
  }
  if ("basic" in auth) {
    return typeof auth.basic === "function" ? "auth.basic" : null;
  }
  return typeof auth.bearer === "function" ? "auth.bearer" : null;
}

/** What of it is wrong, as the end of a sentence whose subject is `auth.basic`; null if nothing is. */
function wrongInLogin(login: unknown): string | null {
  const { username, password } = (login ?? {}) as Partial<Record<keyof RegistryLogin, unknown>>;
  if (typeof username !== "string" || typeof password !== "string") {
    return " must have a username and a password, both of them text, or be a function that returns them";
  }
  return username.includes(":") ? ".username must not contain a colon, which ends the user name on the wire" : null;
}

function loginHeader({ username, password }: RegistryLogin): Credential {
  const encoded = Buffer.from(`${username}:${password}`, "utf8").toString("base64");
  return { header: `Basic ${encoded}`, secrets: [username, password, encoded, encodeURIComponent(username), encodeURIComponent(password)] };
}

function parseAddress(address: string | URL): URL {
  let parsed: URL;
  try {
    parsed = new URL(address);
  } catch {
    // The original error is dropped: it quotes the address, which may hold a password.
    throw new TypeError('url must be an absolute address such as "http://localhost:8081"');
  }
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
    throw new TypeError('url must begin with http:// or https://, such as "http://localhost:8081"');
  }
  if (parsed.search !== "" || parsed.hash !== "") {
    throw new TypeError(`url must not have a query or a fragment (${parsed.origin}${parsed.pathname}): pass keys as auth or headers`);
  }
  return parsed;
}

function authOfUserinfo(parsed: URL): RegistryAuth | undefined {
  if (parsed.username === "" && parsed.password === "") {
    return undefined;
  }
  try {
    return { basic: { username: decodeURIComponent(parsed.username), password: decodeURIComponent(parsed.password) } };
  } catch {
    throw new TypeError(`url of ${parsed.host} has a user name or password that is not percent-encoded: pass them as auth.basic instead`);
  }
}

function soleAuth(
  auth: RegistryAuth | undefined,
  userinfo: RegistryAuth | undefined,
  headers: Readonly<Record<string, string>>,
): RegistryAuth | undefined {
  const inHeaders = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  const given = [auth && "auth", inHeaders && "headers.authorization", userinfo && "the userinfo of url"].filter(Boolean);
  if (given.length > 1) {
    throw new TypeError(`${given.join(" and ")} exclude each other: keep one of them`);
  }
  return auth ?? userinfo;
}

function checkHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
      throw new TypeError(`headers has a name that HTTP does not allow: ${JSON.stringify(name)}`);
    }
    if (!isHeaderValue(value)) {
      throw new TypeError(`headers.${name} must be text without line breaks and within Latin-1`);
    }
  }
  return Object.freeze({ ...headers });
}

const tokenInWords = "a token that fits in a header (text that is not empty, without line breaks)";

function isToken(value: unknown): value is string {
  return value !== "" && isHeaderValue(value);
}

/** What a header may hold: visible characters, spaces and tabs, in Latin-1. */
export function isHeaderValue(value: unknown): value is string {
  return typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
