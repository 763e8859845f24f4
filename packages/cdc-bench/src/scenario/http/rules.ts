/** How `http` measures, a sentence each. */
export function httpRules(isOwnApi: boolean, hasLink: boolean): readonly string[] {
  return [
    "A request: from its start until its rows are there, decompressed and decoded; POST: until the receipt is there, with writing and compressing the body.",
    isOwnApi
      ? "The API runs in a process of its own on 127.0.0.1 and writes its rows anew for each answer. gzip at its default, brotli at quality 4."
      : "The API is not ours: its memory is not counted, and its rows are not known.",
    hasLink
      ? "The link is real: everything passes a TCP proxy that lets so many bits pass in a second. Latency is not added."
      : "There is no link in between but the one to the API: --link 100mbit puts a slower one there.",
    "Closed loop: the next request starts when one has ended. A slow API is asked less often, so percentiles leave out what requests would have waited that users send at a rate of their own.",
    "Forms of requests take turns in blocks, and another one goes first in each. Warm-up requests do not count.",
    "Allocated: growth of heap and buffers of client and server for one request, the median of 3 requests that are not timed.",
    "avro is a container file with its schema (application/avro), avro-headless the rows alone (avro/binary); both by avsc. MB is 10^6 bytes.",
  ];
}
