/** Asks a joined cluster whether all is as it should be, for as long as it takes until new Roles count. */
import { setTimeout as delay } from 'node:timers/promises';
import type { JoinOptions } from '../../control/join/manifests.ts';
import { CLUSTERS_MAP, readReport } from '../../control/targets/cluster-report.ts';
import type { JoinRoad } from '../../control/targets/names.ts';
import type { Client } from '../../kube/http/client.ts';
import { connectionOf, parseKubeconfig } from '../../kube/http/kubeconfig.ts';
import type { Category } from '../check/checks.ts';
import { operatorFacts } from '../check/gather.ts';
import { servedType, settle } from '../kube/read.ts';
import type { Connected } from './connect.ts';
import { withJoined } from './joined-client.ts';
import { neededKinds } from './kinds.ts';
import { overlaps, podNetworks } from './pod-networks.ts';
import { askJoined, excessOf, judgeJoined, missingOf, neededRights } from './verify.ts';
import type { JoinedFacts } from './verify.ts';

export interface VerifyOptions {
  request: { name: string; namespace: string; crds?: boolean };
  central: Connected;
  remote: Connected;
  options: Pick<JoinOptions, 'roads' | 'reach' | 'kafkaNamespaces' | 'namespace' | 'isLongLived'>;
  kubeconfig: string;
  /** Whether rights were taken back, which takes a moment, too. */
  isNarrowed: boolean;
}

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
/** API servers learn of Roles by a watch of their own. */
const ROLES_COUNT_MS = 30_000;
/** They serve a kind a moment after its CRD was applied. */
const CRDS_COUNT_MS = 30_000;
/** The operator asks every ten seconds. */
const OPERATOR_MS = 45_000;
const EVERY_MS = 500;

export async function verifyJoin(verify: VerifyOptions): Promise<Category> {
  const { request, central, remote, options, kubeconfig, isNarrowed } = verify;
  const { crds: hasCrds = false } = request;
  const connection = connectionOf(parseKubeconfig(kubeconfig, 'the kubeconfig of the joined cluster'));
  const needs = neededRights({ ...options, home: options.namespace, isRenewed: !options.isLongLived });
  const answers = await withJoined(kubeconfig, (client) =>
    untilSo(
      () => askJoined(client, needs),
      (seen) =>
        'value' in seen.version &&
        missingOf({ ...seen, needs }).length === 0 &&
        (!isNarrowed || excessOf({ ...seen, needs }).length === 0),
      ROLES_COUNT_MS,
    ),
  );
  const kinds = await untilSo(
    () => kindsThere(remote.client, options.roads),
    (seen) => [...seen.values()].every(Boolean),
    hasCrds ? CRDS_COUNT_MS : 0,
  );
  return judgeJoined({
    cluster: request.name,
    server: connection.server,
    isVerified: !connection.tls.insecure,
    ...answers,
    needs,
    kinds,
    overlaps: options.reach === 'pods' ? await networkOverlaps(central.client, remote.client) : [],
    operator: await askOperator(central.client, verify),
  });
}

/** Which of the kinds that are needed the cluster has. */
async function kindsThere(client: Client, roads: readonly JoinRoad[]): Promise<Map<string, boolean>> {
  const kinds = neededKinds(roads).map(
    async (kind) => [kind.kind, (await servedType(client, kind)) !== undefined] as const,
  );
  return new Map(await Promise.all(kinds));
}

/** Of nodes that nobody here may read nothing is claimed. */
async function networkOverlaps(central: Client, remote: Client): Promise<string[]> {
  const [here, there] = await Promise.all([central, remote].map((client) => settle(podNetworks(client))));
  return here && there && 'value' in here && 'value' in there ? overlaps(here.value, there.value) : [];
}

/** What the operator here says of the cluster, where there is one that works with it. */
async function askOperator(
  client: Client,
  { request, options }: VerifyOptions,
): Promise<JoinedFacts['operator']> {
  const operator = await operatorFacts(client, request.namespace);
  if (
    !options.roads.includes('stretch') ||
    !operator?.roads.includes('kafka') ||
    operator.readyReplicas === 0
  )
    return undefined;
  const report = await untilSo(
    async () => {
      const map = await client.get(CONFIG_MAP, {
        name: CLUSTERS_MAP,
        namespace: request.namespace,
      });
      return readReport(map)[request.name];
    },
    (seen) => seen?.reachable === true,
    OPERATOR_MS,
  );
  return report?.reachable === undefined
    ? 'silent'
    : { reachable: report.reachable, problem: report.problem };
}

/** Asks until the answer is good, or the time is over: then it is what it is. */
async function untilSo<T>(ask: () => Promise<T>, isGood: (answer: T) => boolean, ms: number): Promise<T> {
  const deadline = Date.now() + ms;
  for (;;) {
    const answer = await ask();
    if (isGood(answer) || Date.now() > deadline) return answer;
    await delay(EVERY_MS);
  }
}
