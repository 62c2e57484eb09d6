/** The parts of `tls` in both forms. */
import type { Tell } from './convert.ts';
import { isEmpty, given, isRecord, mapOf } from './fields.ts';
import type { Fields } from './fields.ts';

/** `allow` and `deny`, as they are spelt there. */
function choice(value: unknown): Fields | undefined {
  if (!isRecord(value)) return undefined;
  const made = given({
    allowed: value['allow'] ?? value['allowed'],
    denied: value['deny'] ?? value['denied'],
  });
  return isEmpty(made) ? undefined : made;
}

/** Versions and cipher suites. */
export const parametersOf = (tls: Fields): Fields =>
  given({ protocols: choice(tls['protocols']), cipherSuites: choice(tls['cipherSuites']) });

/** The authorities that are trusted: there one, in a ConfigMap or a Secret, also as a Java key store; here ConfigMaps with PEM. */
export function trustAnchorsOf(tls: Fields, where: string, tell: Tell): Fields {
  const ref = tls['trustAnchorRef'];
  if (!isRecord(ref)) return 'trustAnchorRefs' in tls ? { trustAnchorRefs: tls['trustAnchorRefs'] } : {};
  const { kind = 'ConfigMap', name, key, storeType } = ref;
  const field = `${where}.trustAnchorRef`;
  if (kind === 'Secret')
    tell(
      field,
      `put the certificates in ${String(key)} of the Secret ${String(name)} into a ConfigMap of that name: trust is no secret, and is read from ConfigMaps only`,
    );
  if (isStore(storeType, key))
    tell(
      field,
      `put the certificates of the store into the ConfigMap ${String(name)} as PEM (keytool -list -rfc), and name that key`,
    );
  return { trustAnchorRefs: [given({ name, key })] };
}

const isStore = (storeType: unknown, key: unknown) =>
  storeType === undefined ? /\.(p12|jks)$/.test(String(key)) : storeType !== 'PEM';

/** The one certificate that is shown. */
export const certificateOf = (tls: Fields): Fields | undefined =>
  isRecord(tls['certificateRef']) ? mapOf(tls['certificateRef']) : undefined;
