/** A stand-in for Google Cloud by its documented APIs: KMS, tokens for service accounts, and the metadata service of a machine. */
import { generateKeyPairSync, randomBytes, verify } from 'node:crypto';
import { createStandInKeys, startStandIn } from './stand-in.ts';
import type { Received, Reply, StandIn, StandInKeys } from './stand-in.ts';

export interface GcpStandIn extends StandIn {
  readonly keys: StandInKeys;
  /** What is let in now; who asks for a token gets it. */
  token: string;
  /** How far its clock is ahead of ours. */
  skewMs: number;
  /** The key file of a service account; a new one makes the one before worthless. */
  newKeyFile(): string;
}

export const GCP_KEY_RING = 'projects/our-project/locations/europe-west3/keyRings/our-ring';
const ACCOUNT = 'isthmus@our-project.iam.gserviceaccount.com';

const problem = (status: number, text: string): Reply => ({
  status,
  body: { error: { code: status, status: text } },
});

export async function startGcp(names: string[], now: () => number): Promise<GcpStandIn> {
  const keys = createStandInKeys(...names);
  let publicKey = '';
  const seconds = () => (now() + standIn.skewMs) / 1000;

  function tokenFor(body: string): Reply {
    const form = new URLSearchParams(body);
    const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    const refused = problem(400, 'invalid_grant');
    const signed = Buffer.from(`${head}.${claims}`);
    if (!verify('sha256', signed, publicKey, Buffer.from(signature, 'base64url'))) return refused;
    const said = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
    const isTimely = Number(said['iat']) < seconds() + 300 && Number(said['exp']) > seconds();
    const isOurs = said['iss'] === ACCOUNT && said['aud'] === `${standIn.url}/token`;
    if (!isTimely || !isOurs || said['scope'] !== 'https://www.googleapis.com/auth/cloudkms') return refused;
    return { status: 200, body: { access_token: standIn.token, expires_in: 3599 } };
  }

  function kms({ method, path, headers, body }: Received): Reply {
    if (headers['authorization'] !== `Bearer ${standIn.token}`) return problem(401, 'UNAUTHENTICATED');
    const [, name = '', operation] = /^\/v1\/(.*\/cryptoKeys\/[\w-]+)(?::(\w+))?$/.exec(path) ?? [];
    const key = name.startsWith(`${GCP_KEY_RING}/`) ? name.split('/').at(-1)! : '';
    if (!keys.has(key)) return problem(404, 'NOT_FOUND');
    if (method === 'GET') return { status: 200, body: { name, purpose: 'ENCRYPT_DECRYPT' } };
    const given = JSON.parse(body) as { plaintext?: string; ciphertext?: string };
    if (operation === 'encrypt') {
      const sealed = keys.seal(key, Buffer.from(given.plaintext!, 'base64'));
      const ciphertext = Buffer.concat([Buffer.from([keys.newest(key)]), sealed]).toString('base64');
      return { status: 200, body: { name: `${name}/cryptoKeyVersions/${keys.newest(key)}`, ciphertext } };
    }
    const sealed = Buffer.from(given.ciphertext!, 'base64');
    const opened = keys.open(key, sealed[0] ?? 0, sealed.subarray(1));
    return opened
      ? { status: 200, body: { plaintext: opened.toString('base64') } }
      : problem(400, 'INVALID_ARGUMENT');
  }

  function handle(request: Received): Reply {
    const { path, headers, body } = request;
    if (path === '/token')
      return { ...tokenFor(body), headers: { date: new Date(seconds() * 1000).toUTCString() } };
    if (path === '/computeMetadata/v1/instance/service-accounts/default/token')
      return headers['metadata-flavor'] === 'Google'
        ? { status: 200, body: { access_token: standIn.token, expires_in: 3599, token_type: 'Bearer' } }
        : { status: 403 };
    return kms(request);
  }

  const started = await startStandIn({
    isKeyRequest: ({ path }) => path.startsWith('/v1/'),
    handle,
    refusal: problem(403, 'PERMISSION_DENIED'),
    throttling: problem(429, 'RESOURCE_EXHAUSTED'),
  });
  const standIn: GcpStandIn = Object.assign(started, {
    keys,
    token: randomBytes(20).toString('base64url'),
    skewMs: 0,
    newKeyFile() {
      const pair = generateKeyPairSync('rsa', {
        modulusLength: 2048,
        publicKeyEncoding: { type: 'spki', format: 'pem' },
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      });
      publicKey = pair.publicKey;
      const file = {
        type: 'service_account',
        client_email: ACCOUNT,
        private_key_id: 'k',
        private_key: pair.privateKey,
      };
      return JSON.stringify({ ...file, token_uri: `${standIn.url}/token` });
    },
  });
  return standIn;
}
