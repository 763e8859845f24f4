/**
 * Text as a literal of TypeScript. JSON leaves control characters above U+007E, and those that turn the direction of text, as they are: schema text
 * would move the cursor of whoever reads the declarations, or show other code than the compiler reads.
 */
export function textLiteral(text: string): string {
  return JSON.stringify(text).replaceAll(/[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (found) => {
    return `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
