/**
 * What a client likes best of what there is (RFC 9110, 12.5): the highest quality, and our order among equals. Undefined if it accepts none.
 * @param {string | undefined} header of `Accept` or `Accept-Encoding`
 * @param {readonly string[]} offers
 * @param {(name: string, offer: string) => boolean} matches whether an element of the header means an offer
 * @returns {string | undefined}
 */
export function negotiate(header, offers, matches) {
  if (header === undefined || header.trim() === "") return offers[0];
  const elements = header
    .slice(0, 1_000)
    .split(",")
    .map((element) => element.split(";").map((part) => part.trim().toLowerCase()));
  let best;
  let bestQuality = 0;
  for (const offer of offers) {
    const quality = qualityOf(elements, offer, matches);
    if (quality > bestQuality) [best, bestQuality] = [offer, quality];
  }
  return best;
}

/**
 * The most specific element decides: `application/avro` before a range.
 * @param {readonly string[][]} elements
 * @param {string} offer
 * @param {(name: string, offer: string) => boolean} matches
 */
function qualityOf(elements, offer, matches) {
  const found = elements.filter(([name = ""]) => matches(name, offer)).sort(([a = ""], [b = ""]) => stars(a) - stars(b))[0];
  if (found === undefined) return 0;
  const text = found.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
  return /^[01](\.\d{0,3})?$/.test(text) ? Number(text) : 0;
}

/** @param {string} name */
function stars(name) {
  return name.split("*").length;
}

/** @param {string} name @param {string} offer */
export function matchesType(name, offer) {
  return name === offer || name === "*/*" || name === `${offer.split("/")[0]}/*`;
}

/** @param {string} name @param {string} offer */
export function matchesCoding(name, offer) {
  return name === offer || name === "*";
}
