import { describe, expect, test } from "vitest";
import { textWithoutLogins, wordWithoutLogin } from "./without-logins.ts";

describe("an address", () => {
  test.each([
    ["postgres://db/shop", "postgres://db/shop"],
    ["postgres://me:secret@db/shop", "postgres://db/shop"],
    ["postgres://secret@db", "postgres://db"],
    ["//me:secret@db/shop", "//db/shop"],
    ["postgres://db/shop?user=me&password=secret", "postgres://db/shop"],
    ["postgres://me:se@secret@db/shop", "postgres://db/shop"],
    ["postgres://me:x@db:5432/shop?password=secret#secret", "postgres://db:5432/shop"],
    ["https://registry:8081/#secret", "https://registry:8081/"],
    // Nobody knows where the password ends.
    ["postgres://me:x/secret@db/shop", "postgres://***"],
    ["postgres://me:5?secret@db/shop", "postgres://***"],
    ["postgres://me:x@secret/y@db/shop", "postgres://***"],
    ["postgres://me:x@db/shop?password=y@secret", "postgres://***"],
    ["http://me:x@a/,http://me:secret@b/", "http://***"],
  ])("%s is shown as %s", (address, shown) => {
    expect(wordWithoutLogin(`--at=${address}`)).toBe(`--at=${shown}`);
    expect(textWithoutLogins(`no answer from ${address} or ${address}\nin time`)).toBe(`no answer from ${shown} or ${shown}\nin time`);
  });

  test("that is a word of its own ends with the word", () => {
    expect(wordWithoutLogin("--at=postgres://me:two secret words@db/shop")).toBe("--at=postgres://db/shop");
  });
});
