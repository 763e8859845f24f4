import { existsSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";

const packages = new URL("../packages/", import.meta.url);
const sources = readdirSync(packages)
  .flatMap((name) => [`${name}/src/errors.ts`, `${name}/src/is-error.ts`])
  .filter((path) => existsSync(new URL(path, packages)));

function fails(): never {
  throw new Error("a trap");
}

/** The class of an error may be asked for, but nothing else. */
const masked: unknown = new Proxy(new Error("masked"), { has: fails, get: fails });
const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();
const hostile: readonly unknown[] = [masked, revoked, new Proxy({}, { getPrototypeOf: fails }), null, undefined, "text"];

const guards = await Promise.all(
  sources.map(async (path) => {
    const exported = Object.entries((await import(new URL(path, packages).href)) as Record<string, (value: unknown) => boolean>);
    return exported.filter(([name]) => /^is\w*Error$/.test(name)).map(([name, guard]) => [`${path} ${name}`, guard] as const);
  }),
);

test("each package with errors has a guard", () => expect(guards.flat().length).toBeGreaterThanOrEqual(12));

// A guard is called in a catch clause: what it throws there replaces the error that was caught.
test.each(guards.flat())("%s throws for no value", (name, guard) => {
  for (const value of hostile) {
    expect(guard(value)).toBe(name.endsWith(" isError") && value === masked);
  }
});
