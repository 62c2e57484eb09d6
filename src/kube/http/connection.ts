import { readFileSync } from 'node:fs';
import { IsthmusError, messageOf } from '../../ops/errors.ts';

/** What it takes to talk to one API server as one user: a kubeconfig's context, resolved. */
export interface Connection {
  /** For messages: the context, and where it was read. */
  name: string;
  /** May have a path, as behind Rancher. */
  server: string;
  namespace: string;
  tls: { ca?: Pem | undefined; insecure: boolean; serverName?: string | undefined };
  user: User;
}

/** A PEM text, or a file that holds one and may be replaced while we run. */
export type Pem = { text: string } | { file: string };

export interface User {
  name: string;
  token?: string | undefined;
  tokenFile?: string | undefined;
  basic?: { username: string; password: string } | undefined;
  certificate?: { cert: Pem; key: Pem } | undefined;
  exec?: ExecPlugin | undefined;
  /** Headers that ask the server to act as somebody else. */
  impersonate?: Record<string, string | string[]> | undefined;
}

/** A program that prints credentials. */
export interface ExecPlugin {
  apiVersion: string;
  command: string;
  args: string[];
  env: Record<string, string>;
  installHint?: string | undefined;
  /** What the plugin is told about the cluster, if it asks for it. */
  clusterInfo?: Record<string, unknown> | undefined;
}

/** The text of a PEM; `entry` names its owner in the error. */
export function readPem(pem: Pem, entry: string): string {
  return 'text' in pem ? pem.text : readEntryFile(pem.file, entry);
}

/** Reads a file that a kubeconfig names. */
export function readEntryFile(file: string, entry: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new IsthmusError('KUBECONFIG_INVALID', `${entry}: ${file}: ${messageOf(cause)}`, { cause });
  }
}
