import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** SCRAM (RFC 5802) as Kafka uses it: the client's two messages, and the check that the server knows the password too. */

export type ScramMechanism = 'SCRAM-SHA-256' | 'SCRAM-SHA-512';

export interface Scram {
  first: string;
  /** The second message, from the server's first. Throws if the server's is not as it should be. */
  final(serverFirst: string): Promise<string>;
  /** Whether the server's second message proves that it knows the password. */
  verify(serverFinal: string): boolean;
}

const HASHES = {
  'SCRAM-SHA-256': { name: 'sha256', length: 32 },
  'SCRAM-SHA-512': { name: 'sha512', length: 64 },
} as const;

/** Below, a stolen exchange is cheap to crack; above, a malicious server would keep us busy. */
const ITERATIONS = { min: 4096, max: 1_000_000 };

const derive = promisify(pbkdf2);
const escapeName = (name: string) => name.replaceAll('=', '=3D').replaceAll(',', '=2C');

function attributesOf(message: string): Map<string, string> {
  return new Map(message.split(',').map((part) => [part.slice(0, 1), part.slice(2)]));
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, i) => byte ^ b[i]!));
}

/** What a server keeps keys of instead of the password. */
export function saltPassword(
  mechanism: ScramMechanism,
  password: string,
  salt: Buffer,
  iterations: number,
): Promise<Buffer> {
  const { name, length } = HASHES[mechanism];
  return derive(password.normalize('NFKC'), salt, iterations, length, name);
}

/** One exchange. `nonce` is for tests that repeat a known one. */
export function startScram(
  mechanism: ScramMechanism,
  { username, password }: { username: string; password: string },
  nonce = randomBytes(18).toString('base64'),
): Scram {
  const { name } = HASHES[mechanism];
  const hmac = (key: Buffer, text: string) => createHmac(name, key).update(text).digest();
  const bare = `n=${escapeName(username)},r=${nonce}`;
  let signature: Buffer | undefined;
  return {
    first: `n,,${bare}`,
    async final(serverFirst) {
      const said = attributesOf(serverFirst);
      const serverNonce = said.get('r') ?? '';
      const salt = Buffer.from(said.get('s') ?? '', 'base64');
      const iterations = Number(said.get('i'));
      if (!serverNonce.startsWith(nonce) || serverNonce === nonce) throw new Error('the nonce is not ours');
      if (!(iterations >= ITERATIONS.min && iterations <= ITERATIONS.max) || salt.length === 0) {
        throw new Error(`${iterations} iterations, a salt of ${salt.length} bytes`);
      }
      const salted = await saltPassword(mechanism, password, salt, iterations);
      const clientKey = hmac(salted, 'Client Key');
      const storedKey = createHash(name).update(clientKey).digest();
      const withoutProof = `c=biws,r=${serverNonce}`;
      const exchange = `${bare},${serverFirst},${withoutProof}`;
      signature = hmac(hmac(salted, 'Server Key'), exchange);
      return `${withoutProof},p=${xor(clientKey, hmac(storedKey, exchange)).toString('base64')}`;
    },
    verify(serverFinal) {
      const proof = Buffer.from(attributesOf(serverFinal).get('v') ?? '', 'base64');
      return (
        signature !== undefined && proof.length === signature.length && timingSafeEqual(proof, signature)
      );
    },
  };
}
