import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../clock.ts';
import { readPem } from './connection.ts';
import type { ExecPlugin, Pem, User } from './connection.ts';
import { runExecPlugin } from './exec-plugin.ts';

/** Who we are in one request. The same object is handed out for as long as nothing about it changes. */
export interface Identity {
  headers: Readonly<Record<string, string | string[]>>;
  certificate?: Certificate | undefined;
}

export interface Certificate {
  cert: string;
  key: string;
}

/** Who we are to one API server. Files and plugins are asked again as they age, and when the server refuses us. */
export interface Credentials {
  current(): Promise<Identity>;
  /** Called after a 401 with the identity refused: true if there is another one to try with. */
  renew(refused: Identity): Promise<boolean>;
}

/** A token and a certificate, where either may be absent. */
interface Secrets {
  token?: string | undefined;
  certificate?: Certificate | undefined;
  /** Time of day in milliseconds. */
  expiresAt?: number | undefined;
}

const FILE_AGE_MS = 60_000;
/** A plugin's credential is replaced this long before it expires. */
const EXPIRY_MARGIN_MS = 10_000;
/** However many requests are refused, files and plugins are asked no more often than this. */
const RENEW_INTERVAL_MS = 2000;

/** Makes the credentials of a kubeconfig's user. Files are read here for the first time, so that a missing one is told at once. */
export function createCredentials(user: User, clock: Clock): Credentials {
  const { read, initial, ageMs } = sourceOf(user);
  let secrets = initial;
  let identity = initial && identityOf(user, initial);
  let readAt = clock.now();
  let reading: Promise<Identity> | undefined;

  /** One question at a time, however many requests wait for the answer. */
  function refresh(): Promise<Identity> {
    reading ??= read(secrets)
      .then((found) => {
        readAt = clock.now();
        if (!identity || !sameSecrets(found, secrets)) identity = identityOf(user, found);
        secrets = found;
        return identity;
      })
      .finally(() => (reading = undefined));
    return reading;
  }

  function isStale(): boolean {
    const { expiresAt = Infinity } = secrets ?? {};
    return clock.now() - readAt >= ageMs || clock.wallTime() >= expiresAt - EXPIRY_MARGIN_MS;
  }

  return {
    current: async () => (identity === undefined || isStale() ? refresh() : identity),
    async renew(refused) {
      if (identity !== refused) return true; // another request was refused before, and has renewed
      if (clock.now() - readAt < RENEW_INTERVAL_MS) return false;
      return (await refresh()) !== refused;
    },
  };
}

interface Source {
  initial: Secrets | undefined;
  /** Reads again; what was held before is there for the case that there is nothing to read just now. */
  read: (held: Secrets | undefined) => Promise<Secrets>;
  ageMs: number;
}

function sourceOf(user: User): Source {
  if (user.exec) return execSource(user.exec, user);
  const pems = user.certificate ? [user.certificate.cert, user.certificate.key] : [];
  const usesFiles = user.tokenFile !== undefined || pems.some((pem) => 'file' in pem);
  const initial: Secrets = {
    token: user.tokenFile === undefined ? user.token : readPem({ file: user.tokenFile }, user.name).trim(),
    certificate: certificateOf(user),
  };
  if (!usesFiles) return { initial, read: async () => initial, ageMs: Infinity };
  return { initial, read: (held = initial) => readFiles(user, held), ageMs: FILE_AGE_MS };
}

/**
 * While a file is being replaced it may be away or empty for a moment, and a certificate may be newer than its key: what was
 * held before stays in use.
 */
async function readFiles({ tokenFile, certificate }: User, held: Secrets): Promise<Secrets> {
  const text = async (pem: Pem | undefined) =>
    pem && ('text' in pem ? pem.text : readFile(pem.file, 'utf8').catch(() => ''));
  const token = await text(tokenFile === undefined ? undefined : { file: tokenFile });
  const [cert, key] = await Promise.all([text(certificate?.cert), text(certificate?.key)]);
  return {
    token: token?.trim() || held.token,
    certificate: cert && key && belongTogether(cert, key) ? { cert, key } : held.certificate,
  };
}

function belongTogether(cert: string, key: string): boolean {
  try {
    createSecureContext({ cert, key });
    return true;
  } catch {
    return false;
  }
}

function execSource(plugin: ExecPlugin, user: User): Source {
  const read = async () => {
    const found = await runExecPlugin(plugin, user.name);
    return { ...found, certificate: found.certificate ?? certificateOf(user) };
  };
  return { initial: undefined, read, ageMs: Infinity };
}

function certificateOf({ certificate, name }: User): Certificate | undefined {
  return certificate && { cert: readPem(certificate.cert, name), key: readPem(certificate.key, name) };
}

function identityOf({ basic, impersonate }: User, { token, certificate }: Secrets): Identity {
  if (token !== undefined)
    return { headers: { ...impersonate, authorization: `Bearer ${token}` }, certificate };
  if (!basic) return { headers: { ...impersonate }, certificate };
  const pair = Buffer.from(`${basic.username}:${basic.password}`).toString('base64');
  return { headers: { ...impersonate, authorization: `Basic ${pair}` }, certificate };
}

function sameSecrets(one: Secrets, other: Secrets | undefined): boolean {
  return (
    one.token === other?.token &&
    one.certificate?.cert === other?.certificate?.cert &&
    one.certificate?.key === other?.certificate?.key
  );
}
