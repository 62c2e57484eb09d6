/**
 * Makes an API server as it was: what came since goes from etcd, and what was changed comes back. The server follows etcd by watches,
 * so it needs no restart; deleting by way of the server itself would take as long as a start, and finalizers would be in the way.
 */
import { isDeepStrictEqual } from 'node:util';
import { waitFor } from '../../../src/store/embedded/process.ts';

/** What is asked of a control plane for that. */
export interface Renewable {
  readonly etcdUrl: string;
  /** The answer to a GET by an administrator. */
  read(path: string, accept?: string): Promise<unknown>;
  /** Whether all its servers run. */
  isRunning(): boolean;
}

export interface Baseline {
  restore(): Promise<void>;
}

interface Entry {
  key: string;
  create_revision: string;
  mod_revision: string;
  value?: string;
}

/** What the server itself writes when it likes: its address, its leases, the groups of the CRDs there are. */
const OWN =
  /^\/registry\/(services\/(specs|endpoints)\/default\/kubernetes|endpointslices\/default\/kubernetes|ipaddresses\/10\.96\.0\.1|leases\/kube-system\/apiserver-.*|apiregistration\.k8s\.io\/.*|masterleases\/.*|configmaps\/kube-system\/(extension-apiserver-authentication|kube-apiserver-.*))$/;

/** Whoever waits for longer would be sooner served by a new server. */
const PATIENCE = { timeoutMs: 30_000 };
/** etcd takes 128 operations at once. */
const BATCH = 100;

const base64 = (text: string) => Buffer.from(text).toString('base64');
const ALL = { key: base64('/registry/'), range_end: base64('/registry0') };
const keyText = ({ key }: Entry) => Buffer.from(key, 'base64').toString();

async function ask(etcdUrl: string, method: string, body: object): Promise<{ kvs?: Entry[] }> {
  const response = await fetch(`${etcdUrl}/v3/kv/${method}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { connection: 'close' },
  });
  if (!response.ok) throw new Error(`etcd: ${method}: ${await response.text()}`);
  return (await response.json()) as { kvs?: Entry[] };
}

/** Objects go before the kinds that define them, and those before the namespaces. */
function rank(entry: Entry): number {
  const key = keyText(entry);
  if (key.startsWith('/registry/namespaces/')) return 2;
  return key.startsWith('/registry/apiextensions.k8s.io/') ? 1 : 0;
}

interface Discovery {
  items: {
    metadata: { name?: string };
    versions: { version: string; resources: { resource: string; verbs: string[] }[] }[];
  }[];
}

const DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** The paths of all collections that can be followed. */
async function collections(plane: Renewable): Promise<string[]> {
  const paths: string[] = [];
  for (const root of ['/api', '/apis']) {
    const { items } = (await plane.read(root, DISCOVERY)) as Discovery;
    for (const { metadata, versions } of items)
      for (const { version, resources } of versions) {
        const base = [root, metadata.name ?? '', version].filter((word) => word !== '').join('/');
        const followed = resources.filter(({ verbs }) => verbs.includes('watch') && verbs.includes('list'));
        paths.push(...followed.map(({ resource }) => `${base}/${resource}`));
      }
  }
  return paths.toSorted();
}

/** The names of collections that a key may be of: `/registry/RESOURCE/…` for most, `/registry/GROUP/RESOURCE/…` for those of CRDs. */
const resourcesOf = (key: string) =>
  key
    .split('/')
    .slice(2, 4)
    .map((name) => (name === 'minions' ? 'nodes' : name));

type Entries = Map<string, Entry>;

/** All that is in etcd, but for what the server itself writes. */
async function entriesIn(etcdUrl: string, more: object = {}): Promise<Entries> {
  const { kvs = [] } = await ask(etcdUrl, 'range', { ...ALL, ...more });
  return new Map(kvs.filter((each) => !OWN.test(keyText(each))).map((entry) => [entry.key, entry]));
}

/** Deletes what was not there, and returns it. */
async function removeAdded(etcdUrl: string, before: Entries, now: Entries): Promise<Entry[]> {
  const added = [...now.values()].filter(({ key }) => !before.has(key));
  const keys = added.toSorted((a, b) => rank(a) - rank(b)).map(({ key }) => key);
  for (let i = 0; i < keys.length; i += BATCH) {
    const success = keys.slice(i, i + BATCH).map((key) => ({ request_delete_range: { key } }));
    await ask(etcdUrl, 'txn', { success });
  }
  return added;
}

/** Writes what was changed or deleted, and returns it; `before` has its new revision then. */
async function writeChanged(etcdUrl: string, before: Entries, now: Entries): Promise<Entry[]> {
  const changed = [...before.values()].filter(
    ({ key, mod_revision: revision }) => now.get(key)?.mod_revision !== revision,
  );
  for (const entry of changed) {
    await ask(etcdUrl, 'put', { key: entry.key, value: entry.value });
    const [written] = (await ask(etcdUrl, 'range', { key: entry.key, keys_only: true })).kvs ?? [];
    before.set(entry.key, { ...entry, mod_revision: written?.mod_revision ?? '' });
  }
  return changed;
}

/** Waits until the server has seen all that etcd has of these: only then it answers a list that names no version. */
async function untilSeen(plane: Renewable, paths: readonly string[]): Promise<void> {
  const abort = () => (plane.isRunning() ? undefined : 'the server has ended');
  for (const path of paths) {
    const isAnswered = () =>
      plane.read(path).then(
        () => true,
        () => false, // a busy server may ask for patience
      );
    await waitFor(path, isAnswered, { ...PATIENCE, abort });
  }
}

/** Remembers what there is now. */
export async function takeBaseline(plane: Renewable): Promise<Baseline> {
  const { etcdUrl } = plane;
  const before = await entriesIn(etcdUrl);
  const served = await collections(plane);
  return {
    async restore() {
      const touched = new Set<string>();
      const isAsBefore = async () => {
        const now = await entriesIn(etcdUrl, { keys_only: true });
        const added = await removeAdded(etcdUrl, before, now);
        const mended = [...added, ...(await writeChanged(etcdUrl, before, now))];
        for (const name of mended.flatMap((entry) => resourcesOf(keyText(entry)))) touched.add(name);
        return mended.length === 0 && isDeepStrictEqual(await collections(plane), served);
      };
      // What the server's own controllers do about it may bring something back; a CRD goes from discovery a moment later.
      await waitFor('an API server as before', isAsBefore, PATIENCE);
      await untilSeen(
        plane,
        served.filter((path) => touched.has(path.slice(path.lastIndexOf('/') + 1))),
      );
    },
  };
}
