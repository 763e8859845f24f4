/** A word of a command line that may hold an address, such as `--database=postgres://me:secret@db/shop`, with what may be shown of it. */
export function wordWithoutLogin(word: string): string {
  return word.replace(/\/\/.*/s, placeOf);
}

/** Text that may quote addresses, with what may be shown of them. */
export function textWithoutLogins(text: string): string {
  return text.replaceAll(/\/\/\S*/g, placeOf);
}

const addressParts = /^\/\/([^/?#]*)([^?#]*)(.*)$/s;

/**
 * What follows the scheme, without user, password, query and fragment: drivers of databases take a password from the query, too. What is not an
 * address as users mean it is not parsed as one: a password may hold any character that nobody has escaped.
 */
function placeOf(address: string): string {
  const [, authority = "", path = "", rest = ""] = addressParts.exec(address) ?? [];
  if (path.includes("@") || rest.includes("@")) {
    return "//***"; // what seems to be the host may be the middle of a password
  }
  return `//${authority.slice(authority.lastIndexOf("@") + 1)}${path}`;
}
