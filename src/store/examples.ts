/** The examples that come with the program: folders of resources to run, to read and to change. */
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { IsthmusError } from '../ops/errors.ts';
import { selfSigned } from '../pki/self-signed.ts';

export interface Example {
  name: string;
  /** The first comment of its first file. */
  description: string;
}

const HOME = resolve(import.meta.dirname, '../../deploy/examples');
/** Those whose resources refer to a Secret `certificate`. */
const WITH_CERTIFICATE: ReadonlySet<string> = new Set(['tls']);
const YEAR_MS = 365 * 24 * 3_600_000;

/** Those that `isthmus up` can run. */
export function listExamples(): Example[] {
  return globSync('*/*.yaml', { cwd: HOME })
    .toSorted()
    .filter((file, i, all) => all.findIndex((other) => dirname(other) === dirname(file)) === i)
    .filter((file) => readFileSync(join(HOME, file), 'utf8').includes('\nkind: KafkaClusterRef\n'))
    .map((file) => ({ name: dirname(file), description: firstComment(join(HOME, file)) }));
}

const firstComment = (path: string) => readFileSync(path, 'utf8').split('\n')[0]!.replace(/^#\s*/, '');

/** Copies an example to a folder, unless the folder is there already with what somebody made of it. */
export async function copyExample(name: string, folder: string): Promise<'copied' | 'there'> {
  const examples = listExamples();
  if (!examples.some((example) => example.name === name)) {
    const list = examples.map((one) => `  ${one.name}: ${one.description}`).join('\n');
    throw new IsthmusError('USAGE', `there is no example "${name}", but these:\n${list}`);
  }
  if (existsSync(folder)) return 'there';
  cpSync(join(HOME, name), folder, { recursive: true, filter: (path) => !path.includes('.isthmus') });
  if (WITH_CERTIFICATE.has(name)) await writeCertificate(folder);
  return 'copied';
}

/** A certificate in a package would be everybody's, key and all, and end some day: each copy gets its own. */
async function writeCertificate(folder: string): Promise<void> {
  const { certificate, privateKey } = await selfSigned('localhost', { now: new Date(), validityMs: YEAR_MS });
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'certificate' },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': certificate, 'tls.key': privateKey },
  };
  writeFileSync(join(folder, 'certificate.yaml'), stringify(secret), { mode: 0o600 });
  writeFileSync(join(folder, 'ca.crt'), certificate);
}
