/** One element of an `Accept` or `Accept-Encoding` header. */
interface Preference {
  readonly name: string;
  readonly quality: number;
}

const maxPreferences = 64;

/**
 * Which of the offers the client likes best (RFC 9110, 12.5.1): the most specific range that matches an offer says its quality; among equal
 * ones our order decides. Null if none is acceptable.
 */
export function chooseMediaType(accept: string | undefined, offers: readonly string[]): string | null {
  if (accept === undefined || accept.trim() === "") {
    return offers[0] ?? null;
  }
  const preferences = preferencesIn(accept);
  return best(offers, (offer) => {
    const [type = ""] = offer.split("/");
    const ranges = [offer, `${type}/*`, "*/*"];
    const found = ranges.map((range) => preferences.find(({ name }) => name === range)).find((each) => each !== undefined);
    return found?.quality ?? 0;
  });
}

/**
 * Which content coding to answer with (RFC 9110, 12.5.3). Without a header it is `identity`, and `identity` is acceptable unless it is
 * excluded. Null if none is acceptable.
 */
export function chooseEncoding(acceptEncoding: string | undefined, available: readonly string[]): string | null {
  if (acceptEncoding === undefined || acceptEncoding.trim() === "") {
    return "identity";
  }
  const preferences = preferencesIn(acceptEncoding);
  const named = (coding: string): number | undefined => preferences.find(({ name }) => name === coding)?.quality;
  const others = named("*");
  const chosen = best(available, (coding) => named(coding) ?? others ?? 0);
  const identity = named("identity") ?? (others === 0 ? 0 : undefined);
  if (chosen !== null) {
    return (identity ?? 0) > (named(chosen) ?? others ?? 0) ? "identity" : chosen;
  }
  return identity === 0 ? null : "identity";
}

function best(offers: readonly string[], qualityOf: (offer: string) => number): string | null {
  let chosen: string | null = null;
  let quality = 0;
  for (const offer of offers) {
    if (qualityOf(offer) > quality) {
      [chosen, quality] = [offer, qualityOf(offer)];
    }
  }
  return chosen;
}

function preferencesIn(header: string): readonly Preference[] {
  return header
    .split(",", maxPreferences)
    .map((element) => element.split(";").map((part) => part.trim().toLowerCase()))
    .map(([name = "", ...parameters]) => ({ name, quality: qualityIn(parameters) }));
}

/** A quality that is no number excludes what it belongs to: who asks wrongly gets no surprise. */
function qualityIn(parameters: readonly string[]): number {
  const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
  if (quality === undefined) {
    return 1;
  }
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(quality) ? Number(quality) : 0;
}

/** `application/json; charset=utf-8` without its parameters. */
export function essenceOf(contentType: string | undefined): string {
  return (contentType ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}
