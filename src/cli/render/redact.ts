/** A configuration that may be shown: what comes from Secrets is not in it. Pure. */
import type { ProxyDocument } from '../../control/proxy/config/document.ts';

const REDACTED = '(redacted)';

/**
 * Configurations of filters are shown as their resources have them, placeholders for Secrets included: to look for secrets in the finished
 * text would find only those that one thinks of. Of certificates the keys go.
 */
export function redacted(document: ProxyDocument, filters: ReadonlyMap<string, unknown>): ProxyDocument {
  const { pem, filterDefinitions } = document;
  return {
    ...document,
    filterDefinitions: filterDefinitions.map((one) => ({
      ...one,
      config: filters.has(one.name) ? filters.get(one.name) : REDACTED,
    })),
    ...(pem && {
      pem: Object.fromEntries(
        Object.entries(pem).map(([name, text]) => [name, isCertificate(text) ? text : REDACTED]),
      ),
    }),
  };
}

/** Nothing but certificates. */
const isCertificate = (text: string) =>
  /^(\s*-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----)+\s*$/.test(text);
