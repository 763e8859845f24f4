/** A topic id as Kafka's tools write it: 22 letters of base64 for URLs. Null for the id of zeros, which brokers without topic ids answer. */
export function topicIdText(uuid: string | undefined): string | null {
  const hex = (uuid ?? "").replaceAll("-", "");
  return /^[0-9a-f]{32}$/.test(hex) && !/^0+$/.test(hex) ? Buffer.from(hex, "hex").toString("base64url") : null;
}

/** The same id as the client takes it. */
export function topicIdHex(text: string): string {
  return Buffer.from(text, "base64url").toString("hex");
}
