import { expect, test } from "vitest";
import { createRequestGuard } from "./request-guard.ts";

const guard = createRequestGuard(4000, "secret");
const ours = { host: "127.0.0.1:4000", authorization: "Bearer secret" };

function statusOf(headers: Record<string, string>, path = "/api/state", method = "GET"): number | null {
  return guard({ method, path, headers })?.status ?? null;
}

test("our own page is let through, under both names of this host", () => {
  expect(statusOf(ours)).toBeNull();
  expect(statusOf({ ...ours, host: "localhost:4000", origin: "http://localhost:4000", "sec-fetch-site": "same-origin" })).toBeNull();
  expect(statusOf({ ...ours, "content-type": "application/json; charset=utf-8" }, "/api/run", "POST")).toBeNull();
  expect(statusOf({ host: "127.0.0.1:4000" }, "/style.css")).toBeNull();
});

test.each([
  ["a name that others point at this machine", { host: "evil.example:4000" }, 421],
  ["another port", { host: "127.0.0.1:4001" }, 421],
  ["no host", { host: "" }, 421],
  ["another origin", { origin: "http://evil.example" }, 403],
  ["the other name of this host as origin", { origin: "http://localhost:4000" }, 403],
  ["https in front of our name", { origin: "https://127.0.0.1:4000" }, 403],
  ["a sandboxed page", { origin: "null" }, 403],
  ["a page of another site", { "sec-fetch-site": "cross-site" }, 403],
  ["a page on another port", { "sec-fetch-site": "same-site" }, 403],
  ["no token", { authorization: "" }, 401],
  ["a part of the token", { authorization: "Bearer secre" }, 401],
  ["more than the token", { authorization: "Bearer secret2" }, 401],
  ["a basic login", { authorization: "Basic secret" }, 401],
])("%s is refused", (_name, headers, status) => {
  expect(statusOf({ ...ours, ...headers })).toBe(status);
});

test("a link to the page may stand anywhere, and leads to nothing else", () => {
  const linked = { host: "127.0.0.1:4000", "sec-fetch-site": "cross-site", "sec-fetch-dest": "document" };
  expect(statusOf(linked, "/")).toBeNull();
  expect(statusOf(linked, "/app.js")).toBe(403);
  expect(statusOf({ ...linked, ...ours }, "/api/state")).toBe(403);
  expect(statusOf({ ...linked, "sec-fetch-dest": "iframe" }, "/")).toBe(403);
});

test("what a plain form of another page could send is refused even with the token", () => {
  expect(statusOf({ ...ours, "content-type": "text/plain" }, "/api/run", "POST")).toBe(415);
  expect(statusOf({ ...ours }, "/api/run", "PUT")).toBe(405);
  expect(statusOf({ ...ours }, "/api/events", "HEAD")).toBe(405);
  expect(statusOf({ ...ours }, "/app.js", "POST")).toBe(405);
});
