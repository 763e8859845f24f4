import { type ConnectionDiagnosis, refusedCredential, type SettingNames, settingNames } from "@cdckit/driver";
import type { KafkaJsFailure } from "./explain-failure.ts";

/** What is wrong with a broker's certificate, by OpenSSL's code. */
const certificateFaults: Readonly<Record<string, (names: SettingNames) => string>> = Object.freeze({
  DEPTH_ZERO_SELF_SIGNED_CERT: byUnknown,
  SELF_SIGNED_CERT_IN_CHAIN: byUnknown,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: byUnknown,
  UNABLE_TO_GET_ISSUER_CERT: byUnknown,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: byUnknown,
  CERT_SIGNATURE_FAILURE: () => "is not signed by the authority that it names: another one is given here",
  CERT_HAS_EXPIRED: () => "has expired: it must be renewed on the broker, or the clock here is wrong",
  CERT_NOT_YET_VALID: () => "is not valid yet: the clock here, or the broker's, is wrong",
  ERR_TLS_CERT_ALTNAME_INVALID: ({ brokers }) =>
    `is for another name: give ${brokers}, and the broker's advertised listeners, a name that it holds`,
});

function byUnknown({ nameAuthority }: SettingNames): string {
  return `is signed by an authority that is not known here: ${nameAuthority}`;
}

/** The broker's own words on the certificate of the client, in OpenSSL's code for them. */
const refusedAlert =
  /^ERR_SSL_\w*ALERT_(CERTIFICATE_(REQUIRED|UNKNOWN|EXPIRED|REVOKED)|UNSUPPORTED_CERTIFICATE|BAD_CERTIFICATE|UNKNOWN_CA)$/;

/** What is wrong with a certificate, if the failure says it. Null if it says something else. */
export function certificateFault(chain: readonly KafkaJsFailure[], names: SettingNames): ConnectionDiagnosis | null {
  if (chain.some(({ message }) => /key values mismatch/.test(message))) {
    return refusedCredential(`the key that is given is not that of the certificate: ${names.showCertificate}, which belong together.`);
  }
  const fault = chain.map(({ code }) => certificateFaults[String(code)]).find((found) => found !== undefined);
  return fault === undefined ? null : refusedCredential(`the certificate that the broker shows ${fault(names)}.`);
}

/** Whether a broker has refused the certificate of the client, or that it showed none. */
export function isCertificateRefused(chain: readonly KafkaJsFailure[]): boolean {
  return chain.some(({ code }) => refusedAlert.test(String(code)));
}

/** Whether a connection fails because of a certificate, the client's or the broker's. Another attempt would show and trust the same ones. */
export function isOfCertificate(chain: readonly KafkaJsFailure[]): boolean {
  return isCertificateRefused(chain) || certificateFault(chain, settingNames) !== null;
}
