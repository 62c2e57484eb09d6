/** Asks a proxy pod, at its management port, what it serves and what it stumbles over. Its answer is not trusted. */
import { isJsonObject } from '../../../kube/json.ts';
import { rangesOf } from '../../../resources/common/node-ids.ts';
import type { NodeIdRange } from '../../../resources/common/node-ids.ts';
import { boundedText, httpGet } from '../../shared/http-get.ts';
import { MANAGEMENT_PORT } from '../names.ts';

/** What a pod says about its configuration. */
export interface PodAnswer {
  hash?: string;
  /** Why it does not use a newer one. */
  error?: string;
  /** Why it could not be asked. */
  unreachable?: string;
  /** For virtual clusters that it cannot serve as it should: why. */
  problems?: ReadonlyMap<string, PodProblem>;
  /** For virtual clusters: ids of the brokers behind them. */
  nodeIds?: ReadonlyMap<string, readonly NodeIdRange[]>;
}

export interface PodProblem {
  /** Whether it cannot load the newest version of the virtual cluster; then it serves the one before, or none. */
  isLoad: boolean;
  /** Whether it does not serve it at all, because a filter of its own has stopped a process. */
  isOut: boolean;
  /** Whether the cluster behind it is what is missing. */
  isTarget: boolean;
  /** Set where it is served, and only a filter lacks something. */
  ofFilter?: FilterReason;
  message: string;
}

export type FilterReason = 'KeyServiceUnavailable' | 'FilterProblem';

/** What a pod is asked with. */
export interface PodAccess {
  token: string;
  /** What it has to show, or nothing is sent to it. */
  certificate: string;
  /** Whom the certificate is for. */
  host: string;
}

/** Asks one pod; without anything to ask with, by plain HTTP. */
export type AskPod = (ip: string, access: PodAccess | undefined, signal: AbortSignal) => Promise<PodAnswer>;

const TIMEOUT_MS = 1000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const MAX_HASH = 128;
const MAX_ERROR = 2048;
const MAX_PROBLEM = 512;
const MAX_PROBLEMS = 1000;
const MAX_CLUSTERS = 4096;
const MAX_NODES = 1024;

/** Asks as the proxy serves it: by HTTPS, which shows that the pod has the key in its Secret, before the token is sent. */
export const askAt =
  (port: number): AskPod =>
  async (ip, access, signal) => {
    const enough = new AbortController();
    const within = AbortSignal.any([signal, enough.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const where = { host: ip, port, path: '/config', signal: within };
      const response = await httpGet({ ...where, ...(access && credentialsOf(access)) });
      if (response.statusCode !== 200) return { unreachable: refusalOf(response.statusCode) };
      const text = await boundedText(response, MAX_ANSWER_BYTES);
      return (text === undefined ? undefined : readAnswer(JSON.parse(text))) ?? { unreachable: ODD };
    } catch (error) {
      return { unreachable: failureOf(error, within) }; // not there yet, or not any more, or not a proxy
    } finally {
      enough.abort(); // whatever it still has to say
    }
  };

/** What shows who asks, and whom. */
const credentialsOf = ({ token, certificate, host }: PodAccess) => ({
  ca: certificate,
  servername: host,
  headers: { authorization: `Bearer ${token}` },
});

const ODD = 'it answers, but not as a proxy does';

const refusalOf = (status: number | undefined) =>
  status === 401
    ? 'it does not take the token of the operator (HTTP 401); a token that was replaced reaches pods within two minutes'
    : `it answers with HTTP ${status}`;

const UNTRUSTED =
  'it shows another certificate than the one in its Secret; one that was replaced reaches pods within two minutes';

/** Says what went wrong, and quotes nothing that came from the other side. */
function failureOf(error: unknown, within: AbortSignal): string {
  if (within.aborted && (within.reason as Error).name === 'TimeoutError')
    return `it does not answer within ${TIMEOUT_MS / 1000} s`;
  if (error instanceof SyntaxError) return ODD;
  const { code } = error as { code?: string };
  if (code === undefined) return 'the connection fails';
  return /CERT|ALTNAME|SIGNATURE|ISSUER/.test(code) ? UNTRUSTED : `the connection fails with ${code}`;
}

export const askByHttps = askAt(MANAGEMENT_PORT);

/** Takes from an answer what can be used, and no more than fits into a status. */
export function readAnswer(answer: unknown): PodAnswer | undefined {
  if (!isJsonObject(answer)) return undefined;
  const { hash, error, virtualClusters } = answer;
  const problems = new Map<string, PodProblem>();
  const nodeIds = new Map<string, NodeIdRange[]>();
  for (const one of Array.isArray(virtualClusters) ? (virtualClusters as unknown[]) : []) {
    const problem = problemOf(one);
    if (problem && problems.size < MAX_PROBLEMS) problems.set(...problem);
    const nodes = nodeIdsOf(one);
    if (nodes && nodeIds.size < MAX_CLUSTERS) nodeIds.set(...nodes);
  }
  return {
    ...(typeof hash === 'string' && { hash: hash.slice(0, MAX_HASH) }),
    ...(typeof error === 'string' && { error: error.slice(0, MAX_ERROR) }),
    ...(problems.size > 0 && { problems }),
    ...(nodeIds.size > 0 && { nodeIds }),
  };
}

function problemOf(cluster: unknown): [string, PodProblem] | undefined {
  if (!isJsonObject(cluster)) return undefined;
  const { name, loaded, outOfService, targetReachable, problems } = cluster;
  const ofFilter = filterProblemOf(cluster);
  const said = Array.isArray(problems) ? problems.filter((one) => typeof one === 'string') : [];
  const isTarget = targetReachable === false;
  const isLoad = loaded === false;
  if (typeof name !== 'string') return undefined;
  if (said.length === 0 && !isTarget && !isLoad) return ofFilter && [name, ofFilter];
  const message = said.join('; ') || (isLoad ? 'it cannot be loaded' : 'the target cannot be reached');
  return [name, { isLoad, isOut: outOfService === true, isTarget, message: message.slice(0, MAX_PROBLEM) }];
}

/** What filters lack, by the reason of the first. */
function filterProblemOf({ filterProblems }: Record<string, unknown>): PodProblem | undefined {
  const all = (Array.isArray(filterProblems) ? filterProblems : []).filter(isJsonObject);
  const said = all.flatMap(({ reason, message }) =>
    typeof message === 'string' ? [{ reason, message }] : [],
  );
  const [first] = said;
  if (!first) return undefined;
  const ofFilter = first.reason === 'KeyServiceUnavailable' ? first.reason : 'FilterProblem';
  const message = said.map((one) => one.message).join('; ');
  return { isLoad: false, isOut: false, isTarget: false, ofFilter, message: message.slice(0, MAX_PROBLEM) };
}

function nodeIdsOf(cluster: unknown): [string, NodeIdRange[]] | undefined {
  if (!isJsonObject(cluster) || typeof cluster['name'] !== 'string') return undefined;
  const { name, nodeIds } = cluster;
  const ids = Array.isArray(nodeIds) ? nodeIds.slice(0, MAX_NODES).filter(isNodeId) : [];
  return ids.length > 0 ? [name, rangesOf(ids.toSorted((a, b) => a - b))] : undefined;
}

const isNodeId = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0;
