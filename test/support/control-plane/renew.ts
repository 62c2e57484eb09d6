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

/** Remembers what there is now. */
export async function takeBaseline(plane: Renewable): Promise<Baseline> {
  const { etcdUrl } = plane;
  const range = async (more: object = {}) =>
    ((await ask(etcdUrl, 'range', { ...ALL, ...more })).kvs ?? []).filter((each) => !OWN.test(keyText(each)));
  const before = new Map((await range()).map((entry) => [entry.key, entry]));
  const served = await collections(plane);

  /** Deletes what was not there; returns the keys. */
  async function removeAdded(now: ReadonlyMap<string, Entry>): Promise<Entry[]> {
    const added = [...now.values()].filter(({ key }) => !before.has(key));
    const keys = added.toSorted((a, b) => rank(a) - rank(b)).map(({ key }) => key);
    for (let i = 0; i < keys.length; i += BATCH) {
      const success = keys.slice(i, i + BATCH).map((key) => ({ request_delete_range: { key } }));
      await ask(etcdUrl, 'txn', { success });
    }
    return added;
  }

  /** Writes what was changed or deleted; returns the keys. */
  async function writeChanged(now: ReadonlyMap<string, Entry>): Promise<Entry[]> {
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

  return {
    async restore() {
      const touched = new Set<string>();
      // What the server's own controllers do about it may bring something back; a CRD goes from discovery a moment later.
      await waitFor('an API server as before', async () => {
        const now = new Map((await range({ keys_only: true })).map((entry) => [entry.key, entry]));
        const mended = [...(await removeAdded(now)), ...(await writeChanged(now))];
        for (const name of mended.flatMap((entry) => resourcesOf(keyText(entry)))) touched.add(name);
        return mended.length === 0 && isDeepStrictEqual(await collections(plane), served);
      });
      // A list that names no version is answered when the server has seen all that etcd has. A busy one may ask for patience.
      const followed = served.filter((path) => touched.has(path.slice(path.lastIndexOf('/') + 1)));
      const abort = () => (plane.isRunning() ? undefined : 'the server has ended');
      for (const path of followed) {
        const isAnswered = () =>
          plane.read(path).then(
            () => true,
            () => false,
          );
        await waitFor(path, isAnswered, { abort });
      }
    },
  };
}
