/** A topic id as Kafka's tools write it: 22 letters of base64 for URLs. Null for the id of zeros, which brokers without topic ids answer. */
export function topicIdText(base64: string): string | null {
  const text = base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return text === "" || /^A+$/.test(text) ? null : text;
}
