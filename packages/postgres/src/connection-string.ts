import { PostgresSinkError } from "./errors.ts";

/** Refuses what pg would fail on when it connects, and what it would take for a path on a host named `base`. The text may hold a password. */
export function checkConnectionString(text: unknown): void {
  if (typeof text !== "string" || !isReadable(text)) {
    throw new PostgresSinkError(
      "invalid-option",
      "expected connectionString to be an address such as postgres://user:password@host:5432/database, " +
        `found ${typeof text === "string" ? "a text that is none: percent-encode the password, and the user (encodeURIComponent)" : typeof text}`,
    );
  }
}

/** As pg-connection-string reads it. An empty text leaves the address to pg's environment variables, and a path is that of a socket. */
function isReadable(text: string): boolean {
  if (text === "" || text.startsWith("/")) {
    return true;
  }
  const encoded = / |%[^a-f0-9]|%[a-f0-9][^a-f0-9]/i.test(text) ? encodeURI(text).replaceAll(/%25(\d\d)/g, "%$1") : text;
  const url = urlOf(encoded) ?? urlOf(encoded.replace("@/", "@host/")); // the host may be a parameter
  if (url === null || !(/^([a-z][a-z0-9+.-]*:\/\/|socket:)/i.test(text) || url.searchParams.has("host"))) {
    return false;
  }
  try {
    [url.username, url.password, url.hostname, url.pathname].forEach(decodeURIComponent);
    return true;
  } catch {
    return false;
  }
}

function urlOf(text: string): URL | null {
  return URL.canParse(text, "postgres://base") ? new URL(text, "postgres://base") : null;
}
