/**
 * How an error names an option of a topic, such as `value.encoding`: `createDecoder` has it as `topics`, and `createConsumer`, whose own
 * `topics` is a list of names, as `decoder.topics`.
 */
export function topicOption(path: string): string {
  return `the decoder's option topics[topic].${path} (of createConsumer: decoder.topics[topic].${path})`;
}
