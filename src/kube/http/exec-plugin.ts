import { spawn } from 'node:child_process';
import { IsthmusError, messageOf } from '../../ops/errors.ts';
import type { ExecPlugin } from './connection.ts';

/** What a plugin printed, checked. */
export interface ExecCredential {
  token?: string | undefined;
  certificate?: { cert: string; key: string } | undefined;
  /** Time of day in milliseconds; absent means good until the server says 401. */
  expiresAt?: number | undefined;
}

const MAX_OUTPUT_BYTES = 1024 * 1024;
const PLUGIN_TIMEOUT_MS = 60_000;

/** Runs a credential plugin. It gets no terminal: a plugin that wants to ask somebody fails instead of hanging. */
export async function runExecPlugin(
  plugin: ExecPlugin,
  label: string,
  timeoutMs = PLUGIN_TIMEOUT_MS,
): Promise<ExecCredential> {
  const named = `${label}: exec "${plugin.command}"`;
  const spec = { interactive: false, ...(plugin.clusterInfo ? { cluster: plugin.clusterInfo } : {}) };
  const info = JSON.stringify({ apiVersion: plugin.apiVersion, kind: 'ExecCredential', spec });
  const { code, stdout, problem } = await run(plugin, info, timeoutMs);
  if (problem !== undefined || code !== 0) {
    const hint = plugin.installHint ? ` (${plugin.installHint.trim()})` : '';
    throw new IsthmusError('KUBECONFIG_INVALID', `${named}: ${problem ?? `ended with code ${code}`}${hint}`);
  }
  return parseExecCredential(stdout, plugin.apiVersion, named);
}

/** Checks a plugin's output. Its text is never quoted: it holds credentials. */
export function parseExecCredential(stdout: string, apiVersion: string, label: string): ExecCredential {
  const refuse = (why: string) => new IsthmusError('KUBECONFIG_INVALID', `${label}: its output ${why}`);
  let document: { apiVersion?: unknown; kind?: unknown; status?: Record<string, unknown> };
  try {
    document = JSON.parse(stdout) ?? {};
  } catch {
    throw refuse('is not JSON');
  }
  if (document.kind !== 'ExecCredential' || document.apiVersion !== apiVersion)
    throw refuse(`is not an ExecCredential of ${apiVersion}`);
  const text = (field: string) => {
    const value = document.status?.[field];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [cert, key] = [text('clientCertificateData'), text('clientKeyData')];
  if ((cert === undefined) !== (key === undefined))
    throw refuse('has a certificate or a key without the other');
  const token = text('token');
  if (token === undefined && cert === undefined) throw refuse('has neither a token nor a certificate');
  const expires = text('expirationTimestamp');
  const expiresAt = expires === undefined ? undefined : Date.parse(expires);
  if (Number.isNaN(expiresAt)) throw refuse('has an expirationTimestamp that is no time');
  return {
    token,
    certificate: cert !== undefined && key !== undefined ? { cert, key } : undefined,
    expiresAt,
  };
}

interface Ended {
  code: number | null;
  stdout: string;
  problem?: string;
}

function run(plugin: ExecPlugin, info: string, timeoutMs: number): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const child = spawn(plugin.command, plugin.args, {
    env: { ...process.env, ...plugin.env, KUBERNETES_EXEC_INFO: info },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  let size = 0;
  let complaint = '';
  let problem: string | undefined;
  // What a script has started may outlive it and hold its output open: to kill the script is not enough.
  const giveUp = () => {
    child.kill('SIGKILL');
    child.stdout.destroy();
    child.stderr.destroy();
  };
  const timer = setTimeout(giveUp, timeoutMs);
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_OUTPUT_BYTES) chunks.push(chunk);
    else {
      problem = `printed more than ${MAX_OUTPUT_BYTES} bytes`;
      giveUp();
    }
  });
  child.stderr.on('data', (chunk: Buffer) => {
    if (complaint.length < 500) complaint = (complaint + chunk.toString()).slice(0, 500);
  });
  child.on('error', (error) => {
    clearTimeout(timer);
    resolve({ code: null, stdout: '', problem: messageOf(error) });
  });
  child.on('close', (code, signal) => {
    clearTimeout(timer);
    if (signal) problem ??= `killed by ${signal}, its time is ${timeoutMs / 1000} s`;
    else if (code !== 0) problem ??= `ended with code ${code}: ${complaint.trim()}`;
    resolve({
      code,
      stdout: Buffer.concat(chunks).toString(),
      ...(problem === undefined ? {} : { problem }),
    });
  });
  return promise;
}
