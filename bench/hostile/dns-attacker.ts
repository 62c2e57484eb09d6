/** A tenant that replaces thousands of DNS delegations by others, again and again, until it is told to stop: `dns-attacker.ts KUBECONFIG`. */
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../../src/kube/http/client.ts';
import { loadConnection } from '../../src/kube/http/kubeconfig.ts';
import { endpoints, hostName, NAMES_EACH, ZONE } from './dns-names.ts';

/** As many as one object may have, in each of five. */
const OBJECTS = [0, 1, 2, 3, 4];
const DELEGATIONS_EACH = 1000;
const CHANGE_EVERY_MS = 2000;
/** Whatever happens to who started it. */
const LONGEST_MS = 120_000;
const KIND = { group: 'externaldns.k8s.io', version: 'v1alpha1', kind: 'DNSEndpoint' };

/** Delegations of names that others have, which must not be granted, and of free ones, by turns. */
const hostile = (object: number, turn: number) =>
  endpoints(
    `hostile-${object}`,
    Array.from({ length: DELEGATIONS_EACH }, (_, number) => {
      const dnsName =
        turn % 2 === 0
          ? hostName(object * 10 + Math.floor(number / NAMES_EACH), number % NAMES_EACH)
          : `d${number}.x${object}.${ZONE}`;
      return { dnsName, recordType: 'NS', targets: [`ns.d${number}.x${object}.${ZONE}`] };
    }),
  );

const client = createClient(loadConnection({ file: process.argv[2]! }));
const stopped = new AbortController();
process.once('SIGTERM', () => stopped.abort());
const late = setTimeout(() => stopped.abort(), LONGEST_MS);

for (let turn = 0; !stopped.signal.aborted; turn++) {
  await Promise.all(
    OBJECTS.map((object) => {
      const { metadata, ...rest } = hostile(object, turn);
      const { name, namespace } = metadata;
      return turn === 0
        ? client.create({ metadata, ...rest })
        : client.mergePatch(KIND, { name, namespace }, { spec: rest.spec });
    }),
  );
  await delay(CHANGE_EVERY_MS, undefined, { signal: stopped.signal }).catch(() => {});
}
clearTimeout(late);
await Promise.all(
  OBJECTS.map((object) => client.delete(KIND, { name: `hostile-${object}`, namespace: 'default' })),
);
await client.close();
