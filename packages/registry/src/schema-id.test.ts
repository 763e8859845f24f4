import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { unusableId } from "./schema-id.ts";

const folder = fileURLToPath(new URL("../../../test/vectors/framing/", import.meta.url));

/** Every prefix of the schema ids that framings find in their vectors. */
function prefixesOfFramings(): readonly string[] {
  const lines = readdirSync(folder).flatMap((file) => readFileSync(`${folder}${file}`, "utf8").trimEnd().split("\n"));
  const ids = lines.map((line) => (JSON.parse(line) as { readonly schemaId?: unknown }).schemaId);
  return [...new Set(ids.flatMap((id) => (typeof id === "string" && id.includes(":") ? [id.slice(0, id.indexOf(":"))] : [])))];
}

test("an id of any framing is not found in a registry that has no such ids: other bytes may begin like its frame", () => {
  expect(prefixesOfFramings().length).toBeGreaterThan(5);
  for (const prefix of prefixesOfFramings()) {
    expect([prefix, unusableId(`${prefix}:1`, "a number").code], "add the prefix to kinds in schema-id.ts").toEqual([prefix, "not-found"]);
  }
});

test("an id that no message carries is refused", () => {
  expect(unusableId("nonsense:1" as never, "a number").code).toBe("refused");
});

test.each(["contentId:7", "globalId:7", "contentHash:ab", "artifact:a/b/1"])("%s leads to a registry of Apicurio with its path", (id) => {
  expect(unusableId(id as never, "a number").message).toContain("of Apicurio: set url to the Apicurio registry");
  expect(unusableId("glue:7" as never, "a number").message).not.toContain("url");
});
