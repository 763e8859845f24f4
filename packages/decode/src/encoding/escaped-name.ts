/** The name before Debezium's `avro_unicode` adjustment, which replaces underscores and characters that Avro does not allow by `_uXXXX`. */
export function unescapedName(name: string): string {
  return name.replace(/_u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
