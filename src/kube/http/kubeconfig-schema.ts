import { z } from 'zod';

/**
 * The entries of a kubeconfig as kubectl writes them. Unknown keys are let through, since newer kubectls add some;
 * keys that would change who we are or whom we talk to, and that we do not serve, are refused where the entry is resolved.
 */

const text = z.string().nullish();
const flag = z.boolean().nullish();
const extensions = z.array(z.looseObject({ name: z.string(), extension: z.unknown().optional() })).nullish();

export const clusterSchema = z.looseObject({
  server: z.string().min(1),
  'certificate-authority': text,
  'certificate-authority-data': text,
  'insecure-skip-tls-verify': flag,
  'tls-server-name': text,
  'proxy-url': text,
  'disable-compression': flag,
  extensions,
});

export const execSchema = z.looseObject({
  apiVersion: z.string(),
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.looseObject({ name: z.string().min(1), value: z.string() })).nullish(),
  installHint: text,
  interactiveMode: z.enum(['Never', 'IfAvailable', 'Always']).nullish(),
  provideClusterInfo: flag,
});

export const userSchema = z.looseObject({
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  'client-certificate': text,
  'client-certificate-data': text,
  'client-key': text,
  'client-key-data': text,
  exec: execSchema.nullish(),
  'auth-provider': z.unknown().optional(),
  as: text,
  'as-uid': text,
  'as-groups': z.array(z.string()).nullish(),
  'as-user-extra': z.record(z.string(), z.array(z.string())).nullish(),
});

export const contextSchema = z.looseObject({ cluster: z.string(), user: text, namespace: text });

const named = <S extends string>(field: S) =>
  z
    .array(z.looseObject({ name: z.string() }))
    .nullish()
    .transform((entries) => (entries ?? []).map((entry) => ({ name: entry.name, value: entry[field] })));

/** The outline; an entry is looked into only when a context needs it, so that one broken entry harms nobody else. */
export const kubeconfigSchema = z.looseObject({
  clusters: named('cluster'),
  users: named('user'),
  contexts: named('context'),
  'current-context': text,
});

export type ClusterEntry = z.output<typeof clusterSchema>;
export type UserEntry = z.output<typeof userSchema>;
export type ExecEntry = z.output<typeof execSchema>;
