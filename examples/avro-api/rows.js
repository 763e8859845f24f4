/**
 * What the API is about, and the schema that its Avro has.
 * @typedef {{ id: number, customer: string, city: string | null, price: string, tags: string[] }} Row
 */

/** @type {import("avsc").Schema} */
export const rowSchema = {
  type: "record",
  name: "Row",
  namespace: "shop",
  fields: [
    { name: "id", type: "long" },
    { name: "customer", type: "string" },
    { name: "city", type: ["null", "string"], default: null },
    { name: "price", type: "string" }, // a decimal: JSON's numbers are doubles
    { name: "tags", type: { type: "array", items: "string" } },
  ],
};

/** @param {number} count @returns {Row[]} */
export function exampleRows(count) {
  return Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    customer: `Customer number ${index + 1}`,
    city: index % 3 === 0 ? null : "Reykjavík",
    price: `${(index * 7) % 500}.50`,
    tags: index % 2 === 0 ? ["new"] : ["gift", "express"],
  }));
}
