import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** What of a request decides whether it is answered. */
export interface AskedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** Why a request is not answered. The sentence goes to whoever asked, and says nothing that they should not know. */
export interface Refusal {
  readonly status: 401 | 403 | 405 | 415 | 421;
  readonly sentence: string;
}

/** Refuses what did not come from our page, or null. */
export type RequestGuard = (request: AskedRequest) => Refusal | null;

/**
 * The page listens on loopback, where every page of the browser and every user of the machine can reach it. `Host` must be ours, so that a
 * name that an attacker points at 127.0.0.1 (DNS rebinding) is of no use; `Origin` and `Sec-Fetch-Site` keep other pages out; the token, which
 * only the reader of our stderr knows, keeps out other users and programs. It travels in a header: a cookie would be sent to every port of
 * this host.
 */
export function createRequestGuard(port: number, token: string): RequestGuard {
  const hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`]);
  return ({ method, path, headers }) => {
    const { host, origin, authorization } = headers;
    if (host === undefined || !hosts.has(host)) {
      return { status: 421, sentence: `This is cdc-bench ui on 127.0.0.1:${port}. Open the address that the command printed.` };
    }
    if (origin !== undefined && origin !== `http://${host}`) {
      return { status: 403, sentence: "Requests of other pages are refused." };
    }
    const isNavigation = path === "/" && method === "GET" && headers["sec-fetch-dest"] === "document";
    const site = headers["sec-fetch-site"];
    // A link to the page itself may stand anywhere: the page alone shows nothing.
    if (site !== undefined && site !== "same-origin" && site !== "none" && !isNavigation) {
      return { status: 403, sentence: "Requests of other pages are refused." };
    }
    if (!["GET", "HEAD", "POST", "DELETE"].includes(method)) {
      return { status: 405, sentence: "Only GET, HEAD, POST and DELETE are answered." };
    }
    if (!path.startsWith("/api/")) {
      return method === "GET" || method === "HEAD" ? null : { status: 405, sentence: "Only GET and HEAD are answered here." };
    }
    if (method === "HEAD") {
      return { status: 405, sentence: "Only GET, POST and DELETE are answered here." };
    }
    if (!isSame(authorization ?? "", `Bearer ${token}`)) {
      return { status: 401, sentence: "The token is wrong or missing. Open the address that the command printed." };
    }
    if (method === "POST" && !/^application\/json\b/.test(headers["content-type"] ?? "")) {
      return { status: 415, sentence: "The body must be application/json." };
    }
    return null;
  };
}

/** Takes the same time wherever the texts differ, and whatever their lengths are. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
