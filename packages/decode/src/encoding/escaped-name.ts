/** A name as it was before Debezium's `avro_unicode` adjustment wrote what Avro does not allow in names, and underscores, as `_uXXXX`. */
export function unescapedName(name: string): string {
  return name.replace(/_u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
