import type { FormatName } from "./body-formats.ts";

/** A row of the published table. Figures are copied, never measured here. */
export interface PublishedResponse {
  readonly format: FormatName;
  readonly encoding: string;
  readonly requestMs: number;
  readonly allocatedMegabytes: number;
  readonly sentKilobytes: number;
}

/** The answer of one API in .NET with AvroConvert. */
export const publishedResponses: readonly PublishedResponse[] = [
  { format: "json", encoding: "identity", requestMs: 672.3, allocatedMegabytes: 52.23, sentKilobytes: 6_044 },
  { format: "avro", encoding: "identity", requestMs: 384.7, allocatedMegabytes: 76.58, sentKilobytes: 2_623 },
  { format: "json", encoding: "gzip", requestMs: 264.1, allocatedMegabytes: 88.32, sentKilobytes: 514 },
  { format: "json", encoding: "br", requestMs: 222.5, allocatedMegabytes: 86.15, sentKilobytes: 31 },
  { format: "avro", encoding: "gzip", requestMs: 181.2, allocatedMegabytes: 75.05, sentKilobytes: 104 },
  { format: "avro", encoding: "br", requestMs: 193.5, allocatedMegabytes: 74.75, sentKilobytes: 31 },
];
