import { inspect } from "node:util";
import { RegistryError } from "./errors.ts";
import { isError } from "./is-error.ts";

/** Credentials: a user name and a password, a token, or a function that returns a token. The function is called before every request. */
export type RegistryAuth =
  | { readonly basic: { readonly username: string; readonly password: string } }
  | { readonly bearer: string | (() => string | Promise<string>) };

// A shorter secret is found in messages by chance, and hiding it protects nothing.
const minSecretChars = 4;

// A request under way has one of the last tokens. All of them would fill the memory of a process that lives long.
const maxFreshTokens = 16;

/** One address of a registry, with the credentials for it. No field, no message and no `inspect` shows the credentials. */
export class Endpoint {
  /** The address without userinfo and without a slash at its end. */
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #authorize: () => Promise<string | undefined>;
  readonly #secrets = new Set<string>();
  readonly #freshTokens = new Set<string>();

  constructor(address: string | URL, auth: RegistryAuth | undefined, headers: Readonly<Record<string, string>> = {}) {
    const parsed = parseAddress(address);
    this.url = `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, "");
    this.#headers = checkHeaders(headers);
    this.#authorize = this.#authorization(soleAuth(auth, authOfUserinfo(parsed), headers));
    for (const value of Object.values(headers)) {
      this.#hide(value);
    }
  }

  /** The headers of one request. If a function makes tokens, it is called for each request. */
  async requestHeaders(): Promise<Record<string, string>> {
    const authorization = await this.#authorize();
    return authorization === undefined ? { ...this.#headers } : { ...this.#headers, authorization };
  }

  /** The error as a cause that may be shown: the error itself, or a replacement if anything in it holds one of our secrets. */
  safeCause(error: unknown): unknown {
    const shown = inspect(error, { depth: 10, showHidden: true, maxStringLength: null, maxArrayLength: null });
    for (const secret of [...this.#secrets, ...this.#freshTokens]) {
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
      const header = this.#basicHeader(auth.basic.username, auth.basic.password);
      return async () => header;
    }
    const { bearer } = auth;
    if (typeof bearer === "function") {
      return async () => {
        const token = await this.#freshToken(bearer);
        this.#hideFresh(token);
        return `Bearer ${token}`;
      };
    }
    if (!isToken(bearer)) {
      throw new TypeError(`auth.bearer must be ${tokenInWords}, or a function that returns it`);
    }
    this.#hide(bearer);
    return async () => `Bearer ${bearer}`;
  }

  #basicHeader(username: string, password: string): string {
    if (typeof username !== "string" || typeof password !== "string") {
      throw new TypeError("auth.basic must have a username and a password, both of them text");
    }
    if (username.includes(":")) {
      throw new TypeError("auth.basic.username must not contain a colon, which ends the user name on the wire");
    }
    const encoded = Buffer.from(`${username}:${password}`, "utf8").toString("base64");
    for (const secret of [username, password, encoded, encodeURIComponent(username), encodeURIComponent(password)]) {
      this.#hide(secret);
    }
    return `Basic ${encoded}`;
  }

  async #freshToken(bearer: () => string | Promise<string>): Promise<string> {
    let token: unknown;
    try {
      token = await bearer();
    } catch (error) {
      // Its message and fields are the user's own, and may hold a client secret. Only its name is passed on.
      const name = isError(error) ? error.name : typeof error;
      throw new RegistryError("unavailable", `auth.bearer failed with ${name} before ${this.url} could be asked`, { url: this.url });
    }
    // fetch would refuse such a header too, but would quote the token in its message.
    if (!isToken(token)) {
      throw new RegistryError("refused", `auth.bearer must return ${tokenInWords} to ask ${this.url}`, { url: this.url });
    }
    return token;
  }

  #hideFresh(token: string): void {
    if (token.length < minSecretChars) {
      return;
    }
    this.#freshTokens.delete(token); // a token that is used again is the last one again
    this.#freshTokens.add(token);
    if (this.#freshTokens.size > maxFreshTokens) {
      const [oldest] = this.#freshTokens;
      this.#freshTokens.delete(oldest as string); // the set is not empty
    }
  }

  #hide(secret: string): void {
    if (secret.length >= minSecretChars) {
      this.#secrets.add(secret);
    }
  }
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
