// What a service that asks the API needs: `const rows = await getRows(url)`.
import { codings, formsOf } from "./forms.js";
import { rowSchema } from "./rows.js";

const forms = formsOf(rowSchema);

/**
 * @typedef {object} Choice
 * @property {string} [mediaType] `application/avro` by default
 * @property {string} [coding] `br`, `gzip` or `identity`; `br` by default
 */

/**
 * The rows of the API. `fetch` decompresses by itself.
 * @param {string} url
 * @param {Choice} [choice]
 */
export async function getRows(url, { mediaType = "application/avro", coding = "br" } = {}) {
  const response = await fetch(url, { headers: { accept: mediaType, "accept-encoding": coding } });
  const form = forms[(response.headers.get("content-type") ?? "").split(";")[0] ?? ""];
  if (!response.ok || form === undefined) throw new Error(`the API answers ${response.status}: ${await response.text()}`);
  return /** @type {import("./rows.js").Row[]} */ (await form.read(Buffer.from(await response.arrayBuffer()))); // it has checked them
}

/**
 * Sends rows. Returns how many the API has taken.
 * @param {string} url
 * @param {readonly import("./rows.js").Row[]} rows
 * @param {Choice} [choice]
 * @returns {Promise<number>}
 */
export async function postRows(url, rows, { mediaType = "application/avro", coding = "br" } = {}) {
  const plain = await forms[mediaType]?.write(rows);
  if (plain === undefined) throw new Error(`there is no form ${mediaType}`);
  const body = (await codings[coding]?.write(plain)) ?? plain;
  const headers = { "content-type": mediaType, ...(coding === "identity" ? {} : { "content-encoding": coding }) };
  const response = await fetch(url, { method: "POST", headers, body: new Uint8Array(body) });
  if (!response.ok) throw new Error(`the API answers ${response.status}: ${await response.text()}`);
  return /** @type {{ received: number }} */ (await response.json()).received;
}
