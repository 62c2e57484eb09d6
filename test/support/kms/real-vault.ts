/** A real Vault in development mode: on loopback, everything in memory, with a transit engine and AppRole. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { reservePorts } from '../../../src/store/embedded/ports.ts';
import { startServer, waitFor } from '../../../src/store/embedded/process.ts';
import { ensureVault } from '../install/vault.ts';
import { workspace } from '../workspace.ts';

export interface RealVault extends AsyncDisposable {
  readonly url: string;
  /** Asks as its administrator; throws where it does not succeed. */
  ask(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<unknown>;
}

/** Keys may be used, read and nothing else. */
export const POLICY = `
path "transit/keys/*" { capabilities = ["read"] }
path "transit/datakey/plaintext/*" { capabilities = ["update"] }
path "transit/decrypt/*" { capabilities = ["update"] }`;

export async function startRealVault(): Promise<RealVault> {
  await using starting = new AsyncDisposableStack();
  const program = await ensureVault();
  const ports = starting.use(await reservePorts(1));
  const url = `http://127.0.0.1:${ports.numbers[0]}`;
  const root = randomBytes(16).toString('hex');
  const home = workspace('vault');
  const args = ['server', '-dev', '-dev-no-store-token', `-dev-listen-address=127.0.0.1:${ports.numbers[0]}`];
  const server = startServer('vault', program, args, {
    logFile: join(home, 'vault.log'),
    env: { VAULT_DEV_ROOT_TOKEN_ID: root, HOME: home, SKIP_SETCAP: 'true' },
  });
  starting.defer(() => server.stop());

  const send = (method: string, path: string, body?: object) =>
    fetch(`${url}/v1/${path}`, {
      method,
      headers: { 'x-vault-token': root },
      signal: AbortSignal.timeout(60_000),
      ...(body && { body: JSON.stringify(body) }),
    });
  const ask: RealVault['ask'] = async (method, path, body) => {
    const answer = await send(method, path, body);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`Vault answered ${answer.status} to ${path}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  await waitFor('Vault', async () => (await send('GET', 'sys/health').catch(() => undefined))?.ok, {
    abort: () => (server.running ? undefined : `it ended, see ${server.logFile}`),
  });
  await ask('POST', 'sys/mounts/transit', { type: 'transit' });
  await ask('POST', 'sys/auth/approle', { type: 'approle' });
  await ask('PUT', 'sys/policies/acl/ours', { policy: POLICY });
  const started = starting.move();
  return { url, ask, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
