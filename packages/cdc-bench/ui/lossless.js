/** JSON with integers that a double does not hold: offsets and columns are shown digit by digit. */

/** What stands for such an integer. */
export class BigInteger {
  /** @param {string} digits */
  constructor(digits) {
    this.digits = digits;
  }
}

/**
 * @param {string} json
 * @returns {any}
 */
export function parseLossless(json) {
  const marked = json.replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g, (token) =>
    token.startsWith('"') ? token : `{"$integer":"${token}"}`,
  );
  return JSON.parse(marked, (_name, value) => {
    const isMarked = typeof value === "object" && value !== null && typeof value.$integer === "string" && Object.keys(value).length === 1;
    return isMarked ? new BigInteger(value.$integer) : value;
  });
}

/**
 * A value as text: strings without quotes on the outside, all else as JSON.
 * @param {unknown} value
 * @returns {string}
 */
export function valueText(value) {
  return typeof value === "string" ? value : jsonText(value);
}

/**
 * @param {unknown} value
 * @returns {string}
 */
function jsonText(value) {
  if (value instanceof BigInteger) {
    return value.digits;
  }
  if (Array.isArray(value)) {
    return `[${value.map(jsonText).join(", ")}]`;
  }
  if (typeof value === "object" && value !== null) {
    return `{${Object.entries(value)
      .map(([name, member]) => `${JSON.stringify(name)}: ${jsonText(member)}`)
      .join(", ")}}`;
  }
  return JSON.stringify(value) ?? "";
}
