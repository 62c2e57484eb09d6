/**
 * A new central cluster that takes over a Kafka whose former one is lost, from what the other clusters have of it: their anchors say what
 * must not change, their Secrets what everybody trusts. Nothing is made anew that they have. Pure.
 */
import type { AnyObject } from '../../../kube/object.ts';
import type { KafkaAnchor } from '../../../resources/isthmus/kafka-anchor.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { LOCAL } from '../../kernel/plan.ts';
import { charterOf } from '../anchor.ts';
import type { Fault } from '../faults.ts';
import { hasRun } from '../model/charter.ts';
import type { Charter } from '../model/charter.ts';
import { podName, trustBundleName } from '../model/names.ts';
import type { Observed } from '../observe.ts';
import { unseenAmong } from './sight.ts';

/** On a Kafka: the id of the cluster that it is to take over. As long as it is there, certificates that the former central gave to clients are taken. */
export const ADOPT_ANNOTATION = 'isthmus.dev/adopt';

export const isAdopting = ({ metadata }: Kafka, clusterId: string): boolean =>
  metadata.annotations[ADOPT_ANNOTATION] === clusterId;

/** Those of a Kafka of this name in other clusters, by the name of theirs. */
const anchorsIn = ({ targets }: Pick<Observed, 'targets'>): [string, KafkaAnchor][] =>
  [...(targets ?? [])].flatMap(([name, { anchor }]) =>
    anchor ? [[name, anchor] as [string, KafkaAnchor]] : [],
  );

/** The one that was written last. */
const newestOf = (anchors: readonly [string, KafkaAnchor][]): KafkaAnchor | undefined =>
  anchors.map(([, anchor]) => anchor).toSorted((a, b) => b.spec.epoch - a.spec.epoch)[0];

/** Why a Kafka of which nothing is written down here cannot be made, where other clusters have one of its name. */
export function adoptionFaults(observed: Observed, centralId: string | undefined): Fault[] {
  const anchors = anchorsIn(observed);
  const newest = newestOf(anchors);
  if (!newest || !observed.kafka) return [];
  const { clusterId, holder } = newest.spec;
  const refused = (message: string): Fault[] => [{ reason: 'ChangeNotPossible', path: [], message }];
  const other = anchors.find(([, { spec }]) => spec.clusterId !== clusterId);
  if (other)
    return refused(`clusters have KafkaAnchors of this name with different cluster ids (${clusterId}; in "${other[0]}" ${other[1].spec.clusterId}); remove those of others`); // prettier-ignore
  if (!isAdopting(observed.kafka, clusterId))
    return refused(
      `cluster "${anchors[0]![0]}" has a KafkaAnchor of this name (cluster id ${clusterId}, run from "${holder}"), and here is none. If its former central cluster is lost, take it over: isthmus adopt ${observed.name} -n ${observed.namespace}, or kubectl annotate kafka ${observed.name} -n ${observed.namespace} ${ADOPT_ANNOTATION}=${clusterId}. Otherwise choose another name`,
    );
  const charter = charterOf(newest);
  const unseen = unseenAmong(observed.targets, targetsFrom(charter, observed, centralId));
  if (unseen.length > 0) {
    const message = `before it is taken over, all of its clusters have to be seen; missing: ${unseen.join(', ')}`;
    return [{ reason: 'ClustersPending', path: [], message }];
  }
  const former = charter.targets[LOCAL]?.networkId;
  const hadNodes = charter.nodes.some(({ target }) => target === LOCAL);
  if (hadNodes && former !== undefined && former !== centralId && !observed.targets?.has(former))
    return refused(`nodes of the former central cluster are known by names with "${former}" in them; run the operator with --cluster-id ${former}, or join that cluster by this name`); // prettier-ignore
  return [];
}

/** The names by which clusters of a charter go here, but for this one. */
const targetsFrom = (charter: Charter, observed: Observed, centralId: string | undefined) =>
  Object.keys(placedFrom(charter, observed, centralId).targets).filter((name) => name !== LOCAL);

/** What was the central one is another cluster now, if it is joined by the name that the network has for it. */
function placedFrom(
  charter: Charter,
  { targets }: Pick<Observed, 'targets'>,
  centralId: string | undefined,
): Charter {
  const former = charter.targets[LOCAL]?.networkId;
  if (former === undefined || former === centralId || !targets?.has(former)) return charter;
  const { [LOCAL]: moved = {}, ...others } = charter.targets;
  return {
    ...charter,
    targets: { ...others, [former]: moved },
    nodes: charter.nodes.map((node) => (node.target === LOCAL ? { ...node, target: former } : node)),
  };
}

/** What a new central begins with; undefined where there is nothing to take over. Its epoch fences the former one. */
export function adoptedCharter(observed: Observed, centralId: string | undefined): Charter | undefined {
  const newest = newestOf(anchorsIn(observed));
  if (!newest) return undefined;
  const charter = placedFrom(charterOf(newest), observed, centralId);
  return { ...charter, epoch: charter.epoch + 1 };
}

/** Secrets that are read in another cluster, by what they are called. */
export interface Loan {
  cluster: string;
  secret: string;
}

/**
 * What is to be read elsewhere before anything is decided about certificates: the bundle that nodes trust, and the certificates of nodes
 * that run there. Whoever made new ones instead would have nodes that do not trust each other.
 */
export function loansFor({ name, secrets }: Pick<Observed, 'name' | 'secrets'>, charter: Charter): Loan[] {
  if (!hasRun(charter)) return [];
  const away = Object.keys(charter.targets).filter((target) => target !== LOCAL);
  const bundle = trustBundleName(name);
  const nodes = charter.nodes
    .filter(({ target, formatted }) => target !== LOCAL && formatted.length > 0)
    .map(({ target, pool, id }): Loan => ({ cluster: target, secret: podName(name, pool, id) }));
  // Clusters may be at different points of a change of it: what any of them has, somebody trusts.
  const bundles = away.map((cluster): Loan => ({ cluster, secret: bundle }));
  return [...bundles, ...nodes].filter(({ secret }) => !secrets.has(secret));
}

export const loanKey = ({ cluster, secret }: Loan): string => `${cluster} ${secret}`;

/** By `loanKey`: what was found; undefined where there is none. */
export type Borrowed = ReadonlyMap<string, AnyObject | undefined>;

/** Secrets as if they were here, with those that were read elsewhere. Bundles are joined. */
export function withBorrowed(
  secrets: ReadonlyMap<string, AnyObject>,
  loans: readonly Loan[],
  borrowed: Borrowed,
): ReadonlyMap<string, AnyObject> {
  const found = loans.flatMap((loan) => {
    const secret = borrowed.get(loanKey(loan));
    return secret ? [[loan.secret, secret] as const] : [];
  });
  const joined = [...Map.groupBy(found, ([secret]) => secret)].map(
    ([secret, all]) => [secret, all.map(([, one]) => one).reduce(joinedBundle)] as const,
  );
  return new Map([...secrets, ...joined]);
}

const textOf = (secret: AnyObject, key: string) =>
  Buffer.from(((secret['data'] ?? {}) as Record<string, string>)[key] ?? '', 'base64').toString();

const PEM = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----\n?/g;

/** Every certificate of both, each once. */
function joinedBundle(one: AnyObject, other: AnyObject): AnyObject {
  const keys = Object.keys({ ...(one['data'] as object), ...(other['data'] as object) });
  const data = keys.map((key) => {
    const certificates = [one, other].flatMap((secret) => textOf(secret, key).match(PEM) ?? []);
    const text = [...new Set(certificates.map((pem) => `${pem.trimEnd()}\n`))].join('');
    return [key, Buffer.from(text).toString('base64')] as const;
  });
  return { ...one, data: Object.fromEntries(data) };
}
