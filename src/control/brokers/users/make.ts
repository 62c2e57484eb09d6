/** Makes what users log in with: certificates that are due, and passwords that are missing. */
import { isBeingDeleted } from '../../../kube/object.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { newPassword } from '../../../pki/authority-secrets.ts';
import { issueLeaf } from '../../../pki/certificate.ts';
import { clientData, signerFrom } from '../../../pki/leaf.ts';
import { textOf } from '../../../pki/secrets.ts';
import { viewOf } from '../certificates/seen.ts';
import { isPaused } from '../entities/home.ts';
import { LEAF, passwordIn, passwordSource } from './credentials.ts';
import type { ClientsAuthority, PasswordSource } from './credentials.ts';
import type { UsersActed, WantedOfUser } from './plan-users.ts';

/** Signs what is due, by uid. What was signed before and is not in its Secret yet is not signed again. */
export async function signCertificates(
  users: readonly WantedOfUser[],
  authority: ClientsAuthority | undefined,
  before: UsersActed['certificates'],
  now: Date,
): Promise<UsersActed['certificates']> {
  if (authority?.step.do !== 'sign') return new Map();
  const { material, step, validityMs } = authority;
  const signer = signerFrom(material, step.authority);
  const due = new Set(step.leaves.map(({ name }) => name));
  const signed = new Map<string, Readonly<Record<string, string>>>();
  for (const { user, faults } of users) {
    const { name, uid = '' } = user.metadata;
    if (!signer || !due.has(name) || faults.length > 0 || isBeingDeleted(user) || isPaused(user)) continue;
    const known = before.get(uid);
    // No organisation: what has one is a node, or the operator.
    const request = { subject: { commonName: name }, names: [], now, validityMs };
    signed.set(uid, known ?? clientData(LEAF, await issueLeaf(signer, request), newPassword()));
  }
  return signed;
}

/** The longest password that is taken from a Secret. */
const LONGEST_PASSWORD = 1024;

/** Passwords that Secrets are to get, by uid: of users that bring theirs, and of those that have none yet. */
export async function passwordsFor(
  users: readonly WantedOfUser[],
  before: UsersActed['passwords'],
  readSecret: (namespace: string, name: string) => Promise<AnyObject | undefined>,
): Promise<UsersActed['passwords']> {
  const passwords = new Map<string, string>();
  for (const { user, secret, wanted } of users) {
    if (wanted.credentials !== 'password' || isBeingDeleted(user) || isPaused(user)) continue;
    const { namespace, uid = '' } = user.metadata;
    const source = passwordSource(user);
    const password = source
      ? await broughtPassword(source, (name) => readSecret(namespace, name))
      : passwordIn(secret) === undefined
        ? (before.get(uid) ?? newPassword())
        : undefined;
    if (password !== undefined) passwords.set(uid, password);
  }
  return passwords;
}

async function broughtPassword(
  { secret, key }: PasswordSource,
  readSecret: (name: string) => Promise<AnyObject | undefined>,
): Promise<string | undefined> {
  if (secret === '') return undefined;
  const text = textOf(viewOf(await readSecret(secret)), key)?.trimEnd();
  return text === undefined || text === '' || text.length > LONGEST_PASSWORD ? undefined : text;
}
