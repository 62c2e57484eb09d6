/** Looks up what completions need. Somebody waits at a prompt: it is quick, or it gives nothing. */
import { loadConnection, mergeKubeconfigs, readKubeconfig } from '../../kube/http/kubeconfig.ts';
import { createClient } from '../../kube/http/client.ts';
import type { Client } from '../../kube/http/client.ts';
import { CODES } from '../../ops/codes/codes.ts';
import { KINDS } from '../../resources/registry.ts';
import { kindOf } from '../kube/target.ts';
import { listOf } from '../kube/read.ts';
import { delimiter, join } from 'node:path';
import { homedir } from 'node:os';
import { existsSync } from 'node:fs';
import type { Lookup } from './complete.ts';

const TIMEOUT_MS = 2000;
const NAMESPACE = { group: '', kind: 'Namespace', versions: ['v1'] };

export const clusterLookup: Lookup = {
  kinds: async () => KINDS.filter(({ install }) => install !== 'never').map(({ singular }) => singular),
  codes: async () => CODES.map(({ code }) => code),
  names: (word, line) =>
    orNothing(async () => {
      const kind = kindOf(word);
      return asked(line, (client) => {
        const namespace = hasFlag(line, '-A', '--all-namespaces')
          ? undefined
          : (flagOf(line, '-n', '--namespace') ?? client.namespace);
        return listOf(client, kind, { namespace, metadataOnly: true, timeoutMs: TIMEOUT_MS });
      });
    }),
  namespaces: (line) =>
    orNothing(() =>
      asked(line, (client) => listOf(client, NAMESPACE, { metadataOnly: true, timeoutMs: TIMEOUT_MS })),
    ),
  contexts: (line) => orNothing(async () => [...kubeconfigOf(flagOf(line, '--kubeconfig')).contexts.keys()]),
};

/** A completion that fails is none; a message would be in the middle of what somebody types. */
async function orNothing(work: () => Promise<string[]>): Promise<string[]> {
  try {
    return await work();
  } catch {
    return [];
  }
}

async function asked(
  line: readonly string[],
  list: (client: Client) => Promise<{ metadata: { name: string } }[]>,
): Promise<string[]> {
  const options = { file: flagOf(line, '--kubeconfig'), context: flagOf(line, '--context') };
  const client = createClient(loadConnection(options));
  try {
    return (await list(client)).map(({ metadata }) => metadata.name);
  } finally {
    await client.close(0);
  }
}

function kubeconfigOf(file: string | undefined) {
  const listed = (process.env['KUBECONFIG'] ?? join(homedir(), '.kube', 'config')).split(delimiter);
  return mergeKubeconfigs(
    (file === undefined ? listed.filter((one) => existsSync(one)) : [file]).map(readKubeconfig),
  );
}

const flagOf = (line: readonly string[], ...flags: string[]) =>
  line.find((_, index) => flags.includes(line[index - 1] ?? ''));

const hasFlag = (line: readonly string[], ...flags: string[]) => line.some((word) => flags.includes(word));
