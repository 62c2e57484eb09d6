/**
 * What the planner makes of a golden scenario. Certificates are issued on the spot where an input says `@certificate`, and
 * stand as that in the outcome.
 */
import { keyOf } from '../../../src/kube/object.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import type { Learned } from '../../../src/control/kernel/reconcile.ts';
import type { RowName } from '../../../src/control/kernel/watches.ts';
import type { ConfigRejections } from '../../../src/control/proxy/config/checks.ts';
import type { ProxyDocument } from '../../../src/control/proxy/config/document.ts';
import { TOKEN_KEY } from '../../../src/control/proxy/names.ts';
import type { ProxyPlan } from '../../../src/control/proxy/plan.ts';
import { readAnswer } from '../../../src/control/proxy/pods/pod-client.ts';
import type { PodAnswer } from '../../../src/control/proxy/pods/pod-client.ts';
import type { ProxyViews } from '../../../src/control/proxy/watches.ts';
import { titleOf } from '../golden/input.ts';
import type { InputDocument } from '../golden/input.ts';
import type { Outcome, Sections } from '../golden/outcome.ts';
import type { Json } from '../golden/patch.ts';
import type { Authority } from '../pki.ts';
import { createMemoryCluster, objectsIn } from './memory-cluster.ts';
import type { MemoryCluster } from './memory-cluster.ts';

/** What a scenario says beside its objects, in a document of kind Scenario. */
interface Scenario {
  proxy: { namespace: string; name: string };
  absent: RowName<ProxyViews>[];
  taken: string[];
  refusedFilters: Record<string, string>;
  refusedClusters: Record<string, string>;
  denied: Record<string, string>;
}

export interface PlannedScenario {
  outcome: Outcome;
  /** The configuration that the proxies get. */
  config: string;
  /** What still changes when the plan was applied and observed twice, which is to say nothing. */
  changesInTheEnd: number;
}

/** `before` is what the cluster held, and was planned and applied, before it came to hold what is in `input`. */
export async function planScenario(
  input: readonly InputDocument[],
  authority: Authority,
  before: readonly InputDocument[] = [],
): Promise<PlannedScenario> {
  const { cluster, proxy, plan, masks } = await load(
    input as readonly AnyObject[],
    authority,
    before as readonly AnyObject[],
  );
  const now = Date.now();
  const first = plan(now);
  const outcome = {
    names: { proxy: proxy.name, namespace: proxy.namespace },
    sections: render(first, masks),
  };
  cluster.apply(first, now);
  cluster.apply(plan(now), now);
  const changesInTheEnd = cluster.apply(plan(now), now);
  return { outcome, config: first.config.text, changesInTheEnd };
}

export interface Loaded {
  cluster: MemoryCluster;
  proxy: Scenario['proxy'];
  /** The plan, with pods that say `test/config: newest` having loaded what it says, and answering `test/answer` beside that. */
  plan: (now: number) => ProxyPlan;
  /** Texts that are different each time, by what stands for them. */
  masks: Map<string, string>;
}

/** The scenario's objects in a cluster in memory, which held those of `before` first, and how to plan for them. */
export async function load(
  documents: readonly AnyObject[],
  authority: Authority,
  before: readonly AnyObject[] = [],
): Promise<Loaded> {
  const masks = new Map([[authority.certPem, '@authority']]);
  const scenario = scenarioOf(documents);
  const cluster = createMemoryCluster(scenario.absent);
  for (const document of before.filter(({ kind }) => kind !== 'Scenario'))
    cluster.put(await fill(complete(document), authority, masks));
  if (before.length > 0) cluster.apply(cluster.plan(scenario.proxy, Date.now()), Date.now());
  const titles = new Set(documents.map(titleOf));
  for (const document of before)
    if (!titles.has(titleOf(document))) cluster.delete(document.kind, keyOf(complete(document).metadata));
  const newest = new Map<string, PodAnswer>();
  for (const document of documents) {
    if (document.kind === 'Scenario') continue;
    const filled = await fill(complete(document), authority, masks);
    const isThere = before.some((one) => titleOf(one) === titleOf(document));
    const status = isThere ? cluster.get(document.kind, keyOf(filled.metadata))?.status : undefined;
    cluster.put({ ...(status !== undefined && { status }), ...filled });
    const { annotations = {}, name } = document.metadata;
    if (annotations['test/config'] !== 'newest') continue;
    newest.set(name, readAnswer(JSON.parse(annotations['test/answer'] ?? '{}')) ?? {});
  }
  const learned: Learned<ConfigRejections> = {
    taken: new Set(scenario.taken),
    denied: new Map(Object.entries(scenario.denied)),
    checked: {
      filters: new Map(Object.entries(scenario.refusedFilters)),
      clusters: new Map(Object.entries(scenario.refusedClusters)),
      hopeless: new Set(),
    },
  };
  const plan = (now: number) => {
    const configVersion = cluster.plan(scenario.proxy, now, { learned }).config.hash;
    const answers = new Map(
      [...newest].map(([name, { problems, nodeIds }]) => [
        name,
        { configVersion, ...(problems && { problems }), ...(nodeIds && { nodeIds }) },
      ]),
    );
    return cluster.plan(scenario.proxy, now, { learned, answers });
  };
  return { cluster, proxy: scenario.proxy, plan, masks };
}

function scenarioOf(documents: readonly AnyObject[]): Scenario {
  const written = documents.find(({ kind }) => kind === 'Scenario') as Partial<Scenario> | undefined;
  return {
    proxy: { namespace: 'default', name: 'myproxy' },
    absent: [],
    taken: [],
    refusedFilters: {},
    refusedClusters: {},
    denied: {},
    ...written,
  };
}

/** What an API server would have added. */
function complete(object: AnyObject): AnyObject {
  const { name } = object.metadata;
  return {
    ...object,
    metadata: {
      namespace: object.kind === 'Namespace' ? '' : 'default',
      uid: `uid-of-${name}`,
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...object.metadata,
    },
  };
}

async function fill(object: AnyObject, authority: Authority, masks: Map<string, string>): Promise<AnyObject> {
  if (object.kind !== 'Secret' && object.kind !== 'ConfigMap') return object;
  const { stringData, ...rest } = object;
  const written = (stringData ?? object['data'] ?? {}) as Record<string, string>;
  const data: Record<string, string> = { ...written };
  const asked = written['tls.crt'];
  if (asked?.startsWith('@certificate')) {
    const issued = await authority.issue(requestOf(asked));
    data['tls.crt'] = issued.certPem;
    masks.set(issued.certPem, asked.trim());
    const key = written['tls.key'] === '@key' ? issued : await authority.issue(requestOf(asked));
    data['tls.key'] = key.keyPem;
    masks.set(key.keyPem, asked.replace('@certificate', '@key').trim());
  }
  for (const [name, text] of Object.entries(data)) if (text === '@authority') data[name] = authority.certPem;
  if (object.kind === 'ConfigMap') return { ...rest, data };
  const encoded = Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')]);
  return { ...rest, data: Object.fromEntries(encoded) as object };
}

/** `@certificate dns=a,b days=-1` */
function requestOf(text: string) {
  const dns = /dns=(\S+)/.exec(text)?.[1]?.split(',') ?? [];
  const days = Number(/days=(\S+)/.exec(text)?.[1] ?? 30);
  return { commonName: 'test', dns, days };
}

/** The plan as documents, each by its kind and name. */
function render(plan: ProxyPlan, masks: ReadonlyMap<string, string>): Sections {
  const { statuses, config } = plan;
  const pems = pemMasks(config.text, masks);
  const mask = (text: string) => {
    let masked = text.replaceAll(config.hash, '@config').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '@time');
    for (const [secret, name] of [...masks, ...pems]) masked = masked.replaceAll(secret, name);
    return masked;
  };
  const sections = { configs: {}, objects: {}, statuses: {} };
  const add = (section: Record<string, Json>, title: string, value: unknown) => {
    if (title in section) throw new Error(`there are two of ${title}`);
    // What is undefined is not sent.
    section[title] = JSON.parse(JSON.stringify(deepMap(value, mask))) as Json;
  };
  for (const object of objectsIn(plan)) {
    const { kind, metadata } = object;
    // Two tokens, in every scenario alike.
    if (kind === 'Secret' && TOKEN_KEY in (object['data'] as object)) continue;
    const configs = kind === 'Secret' ? Object.entries(object['data'] as Record<string, string>) : [];
    // The configuration is worth reading, so it is not left in base64.
    for (const [file, text] of configs) {
      const config: unknown = JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
      add(sections.configs, `${file.replace('.yaml', '')} ${metadata.name}`, config);
    }
    const data = Object.fromEntries(configs.map(([file]) => [file, '@configs']));
    add(sections.objects, `${kind} ${metadata.name}`, configs.length > 0 ? { ...object, data } : object);
  }
  for (const { kind, name, status } of statuses) add(sections.statuses, `${kind} ${name}`, status);
  return sections;
}

/** What stands for the names in `pem`, which are different each time as what is in it is. */
function pemMasks(text: string, masks: ReadonlyMap<string, string>): Map<string, string> {
  const { pem = {} } = JSON.parse(text) as ProxyDocument;
  const found = Object.entries(pem).map(([name, secret]) => {
    const masked = [...masks].reduce((rest, [one, mask]) => rest.replaceAll(one, mask), secret);
    return [name, `@name of ${masked.replaceAll('\n', ' ')}`] as const;
  });
  const distinct = new Set(found.map(([, mask]) => mask)).size;
  if (distinct < found.length) throw new Error('two certificates of this scenario cannot be told apart');
  return new Map(found);
}

function deepMap(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => deepMap(item, change));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [change(key), deepMap(inner, change)] as const);
  // Names that are masked were in the order of what they stood for.
  const isMasked = entries.some(([key]) => !Object.hasOwn(value, key));
  return Object.fromEntries(isMasked ? entries.toSorted(([a], [b]) => (a < b ? -1 : 1)) : entries);
}
