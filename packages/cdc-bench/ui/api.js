/** What the page asks of the command that serves it. The token travels in a header; nothing is asked of anybody else. */

const tokenName = "cdc-bench-token";
const lostSentence = "cdc-bench ui has ended, or the connection is lost.";

/** Takes the token out of the address, so that it does not stay in the history. True if there was one. */
export function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token !== null) {
    localStorage.setItem(tokenName, token);
    history.replaceState(null, "", "#measure");
  }
  return token !== null;
}

/** An answer that is no success. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {string | null} field
   */
  constructor(status, message, field) {
    super(message);
    this.status = status;
    this.field = field;
  }
}

/**
 * Whatever was caught, with its message and perhaps its field.
 * @param {unknown} error
 */
export function asApiError(error) {
  return error instanceof ApiError ? error : new ApiError(0, error instanceof Error ? error.message : String(error), null);
}

/**
 * @param {string} path
 * @param {RequestInit} [options]
 */
async function ask(path, options = {}) {
  const headers = new Headers(options.headers);
  headers.set("authorization", `Bearer ${localStorage.getItem(tokenName) ?? ""}`);
  /** @type {Response} */
  let response;
  try {
    response = await fetch(path, { ...options, headers, credentials: "omit", cache: "no-store" });
  } catch {
    throw new ApiError(0, "cdc-bench ui does not answer: it has ended.", null);
  }
  if (!response.ok) {
    const { error = `cdc-bench ui answered ${response.status}.`, field = null } = await response.json().catch(() => ({}));
    throw new ApiError(response.status, error, field);
  }
  return response;
}

/** @param {string} path */
export async function get(path) {
  return (await ask(path)).json();
}

/** @param {string} path */
export async function getText(path) {
  return (await ask(path)).text();
}

/**
 * @param {string} path
 * @param {object} [body]
 */
export async function post(path, body = {}) {
  return (await ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })).json();
}

/** @param {string} path */
export async function remove(path) {
  return (await ask(path, { method: "DELETE" })).json();
}

/**
 * Follows the server's events for as long as the page is open, and connects again when the connection is lost.
 * @param {(name: string, data: any) => void} onEvent
 * @param {(state: "open" | "lost" | "refused", reason: string) => void} onState
 */
export async function follow(onEvent, onState) {
  for (let waitMs = 500; ; waitMs = Math.min(waitMs * 2, 5_000)) {
    try {
      const response = await ask("/api/events");
      onState("open", "");
      waitMs = 500;
      await readEvents(response, onEvent);
      onState("lost", lostSentence);
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        onState("refused", error.message);
        return;
      }
      // What a browser says when a stream breaks is no sentence ("network error"), and other browsers say something else.
      onState("lost", error instanceof ApiError ? error.message : lostSentence);
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/**
 * Server-sent events, read by hand: `EventSource` sends no headers.
 * @param {Response} response
 * @param {(name: string, data: any) => void} onEvent
 */
async function readEvents(response, onEvent) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (let chunk = await reader?.read(); chunk !== undefined && !chunk.done; chunk = await reader?.read()) {
    const parts = (held + chunk.value).split("\n\n");
    held = parts.pop() ?? "";
    for (const part of parts) {
      const name = /^event: (.*)$/m.exec(part)?.[1];
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (name !== undefined && data !== undefined) {
        onEvent(name, JSON.parse(data));
      }
    }
  }
}
