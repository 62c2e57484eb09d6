/** The way of clients to brokers, in five columns. Never more is drawn than can be looked at: leaves are grouped. Pure. */
import { statusOf } from '../../view/status.ts';
import type { Column, ObjectRef, Rates, State, TopologyEdge, TopologyNode, TopologyView } from '../api.ts';
import { objectKey } from '../source.ts';
import type { World, WorldCluster } from '../source.ts';
import { isAbout } from './fleet.ts';

export const MOST_NODES = 200;
/** More leaves of one thing than this are one node. */
export const MOST_LEAVES = 10;
/** With their names, filters and brokers these make no more nodes than there may be. */
const MOST_CLUSTERS = 40;

export interface TopologyInput {
  world: World;
  /** Undefined where nobody sees them. */
  rates: ((cluster?: string) => Rates) | undefined;
}

const ORDER: readonly State[] = ['notReady', 'warning', 'unknown', 'ready'];
const worseOf = (a: State, b: State): State => (ORDER.indexOf(a) < ORDER.indexOf(b) ? a : b);

/** Draws the virtual clusters that a text is about: the worst and busiest, where they are too many. */
export function topologyView({ world, rates }: TopologyInput, text: string): TopologyView {
  const states = new Map(
    world.objects.map(statusOf).map((one) => [objectKey(one.kind, one.namespace, one.name), one]),
  );
  const statusOfRef = ({ kind, namespace, name }: ObjectRef) => states.get(objectKey(kind, namespace, name));
  const stateOf = (ref: ObjectRef): State => statusOfRef(ref)?.state ?? 'unknown';
  const isUnreachable = (cluster: WorldCluster) =>
    statusOfRef(clusterRef(cluster))?.reason === 'TargetUnreachable';
  const found = world.clusters
    .filter((cluster) => isAbout(text, textOf(cluster)))
    .map((cluster) => ({
      cluster,
      state: stateOf(clusterRef(cluster)),
      requests: rates?.(cluster.name).requests ?? 0,
    }))
    .toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || b.requests - a.requests);
  // Fewer and fewer, until all that hangs on them fits as well.
  for (let most = MOST_CLUSTERS; ; most = Math.floor(most / 2)) {
    const drawing = createDrawing();
    for (const { cluster, state } of found.slice(0, most))
      drawCluster(drawing, {
        cluster,
        state,
        rates: rates?.(cluster.name),
        stateOf,
        isUnreachable: isUnreachable(cluster),
      });
    const view = drawing.view(Math.max(0, found.length - most));
    if (view.nodes.length <= MOST_NODES || most === 1) return view;
  }
}

const textOf = ({ name, namespace, proxy = '', filters, target, bootstrap }: WorldCluster) =>
  [name, namespace, proxy, target.name, ...filters, ...bootstrap.map(({ address }) => address)].join(' ');

const clusterRef = ({ kind, name, namespace }: WorldCluster): ObjectRef => ({ kind, namespace, name });

interface Drawn {
  cluster: WorldCluster;
  state: State;
  rates: Rates | undefined;
  stateOf: (ref: ObjectRef) => State;
  isUnreachable: boolean;
}

function drawCluster(drawing: Drawing, { cluster, state, rates, stateOf, isUnreachable }: Drawn): void {
  const { kind, namespace, name, bootstrap, filters, proxy, target, brokers } = cluster;
  const own = drawing.node('clusters', `${kind} ${namespace}/${name}`, {
    label: name,
    detail: rates ? `${Math.round(rates.connections)} connections` : namespace,
    state,
    object: clusterRef(cluster),
  });
  const addresses = bootstrap.map(({ address, tls }) => ({
    id: address,
    label: address,
    detail: tls ? 'TLS' : 'TCP',
    state,
  }));
  for (const leaf of leavesOf(addresses, 'addresses', `${namespace}/${name}`)) {
    const id = drawing.node('names', leaf.id, { ...leaf, object: undefined });
    drawing.edge(id, own, rates);
  }
  // Requests meet filters in their order.
  let from = own;
  for (const filter of filters) {
    const object = { kind: 'KafkaProtocolFilter', namespace, name: filter };
    const id = drawing.node('filters', `${namespace}/${name}/${filter}`, {
      label: filter,
      detail: `of ${name}`,
      state: stateOf(object),
      object,
    });
    drawing.edge(from, id, rates);
    from = id;
  }
  if (proxy !== undefined) {
    const object = { kind: 'KafkaProxy', namespace, name: proxy };
    const facts = { label: proxy, detail: 'KafkaProxy', state: stateOf(object), object };
    const id = drawing.node('proxies', `${namespace}/${proxy}`, facts);
    drawing.edge(from, id, rates);
    from = id;
  }
  const known = brokers.map((broker): Leaf => ({
    id: `${target.address} ${broker.id}`,
    label: `broker ${broker.id}`,
    detail: target.name,
    state: isUnreachable ? 'notReady' : broker.state,
  }));
  const unknown: Leaf = {
    id: target.address,
    label: target.address,
    detail: target.name,
    state: isUnreachable ? 'notReady' : 'unknown',
  };
  const targetRef = { kind: target.kind, namespace, name: target.name };
  for (const leaf of leavesOf(known.length > 0 ? known : [unknown], 'brokers', target.address)) {
    const id = drawing.node('brokers', leaf.id, { ...leaf, object: targetRef });
    drawing.edge(from, id, rates);
  }
}

interface Leaf {
  id: string;
  label: string;
  detail: string;
  state: State;
  count?: number;
}

function leavesOf(leaves: readonly Leaf[], what: string, of: string): readonly Leaf[] {
  if (leaves.length <= MOST_LEAVES) return leaves;
  return [
    {
      id: `${of} ${what}`,
      label: `${leaves.length} ${what}`,
      detail: leaves[0]!.detail,
      state: leaves.map(({ state }) => state).reduce(worseOf),
      count: leaves.length,
    },
  ];
}

type NodeFacts = Pick<TopologyNode, 'label' | 'detail' | 'state'> & {
  object: ObjectRef | undefined;
  count?: number;
};

interface Drawing {
  node(column: Column, id: string, facts: NodeFacts): string;
  edge(from: string, to: string, rates: Rates | undefined): void;
  view(hidden: number): TopologyView;
}

/** What several virtual clusters share is one node, with what all of them carry on its edges, and the worst of their states. */
function createDrawing(): Drawing {
  const nodes = new Map<string, TopologyNode>();
  const edges = new Map<string, TopologyEdge>();
  return {
    node(column, key, { label, detail, state, object, count = 1 }) {
      const id = `${column}:${key}`;
      const worst = worseOf(nodes.get(id)?.state ?? state, state);
      nodes.set(id, { id, column, label, detail, state: worst, count, ...(object && { object }) });
      return id;
    },
    edge(from, to, rates) {
      const key = `${from} → ${to}`;
      const { requests = 0, bytes = 0 } = edges.get(key) ?? {};
      const carried = rates && {
        requests: requests + rates.requests,
        bytes: bytes + rates.bytesIn + rates.bytesOut,
      };
      edges.set(key, { from, to, ...carried });
    },
    view: (hidden) => ({ nodes: [...nodes.values()], edges: [...edges.values()], hidden }),
  };
}
