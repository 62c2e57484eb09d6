/** The way of clients to brokers: five columns, and what flows between them. */
import type { Column, TopologyEdge, TopologyNode, TopologyView } from '../api.ts';
import { bytes, rate } from './format.ts';
import { Badge, Nothing, Search, Waiting } from './parts.tsx';
import { apiPath, useDocument } from './stream.ts';
import { objectAddress, place } from './url.ts';

const COLUMNS: readonly { column: Column; title: string }[] = [
  { column: 'names', title: 'Clients connect to' },
  { column: 'clusters', title: 'Virtual cluster' },
  { column: 'filters', title: 'Filters' },
  { column: 'proxies', title: 'Proxy' },
  { column: 'brokers', title: 'Brokers' },
];

const BOX = { width: 170, height: 44 };
const GAP = { x: 70, y: 16 };
const TOP = 34;

export function Topology() {
  const view = useDocument<TopologyView>(apiPath('topology', { q: place.value.params['q'] }));
  return (
    <>
      <h1>Topology</h1>
      <Search label="Draw only" />
      {view ? <Known view={view} /> : <Waiting />}
    </>
  );
}

function Known({ view: { nodes, edges, hidden } }: { view: TopologyView }) {
  if (nodes.length === 0) return <Nothing>There is no virtual cluster to draw.</Nothing>;
  return (
    <>
      {hidden > 0 && (
        <p class="quiet">
          {hidden.toLocaleString('en')} virtual clusters are not drawn: those are shown first that have
          problems, or the most traffic.
        </p>
      )}
      <Picture nodes={nodes} edges={edges} />
      <Legend />
    </>
  );
}

interface Placed extends TopologyNode {
  x: number;
  y: number;
}

/** Each column from top to bottom, in the order given; so what belongs together is side by side. */
function place5(nodes: readonly TopologyNode[]): { placed: Map<string, Placed>; height: number } {
  const placed = new Map<string, Placed>();
  const most = Math.max(...COLUMNS.map(({ column }) => nodes.filter((one) => one.column === column).length));
  const height = TOP + most * (BOX.height + GAP.y);
  COLUMNS.forEach(({ column }, index) => {
    const its = nodes.filter((one) => one.column === column);
    const step = (height - TOP) / Math.max(1, its.length);
    its.forEach((node, row) => {
      const y = TOP + row * step + (step - BOX.height) / 2;
      placed.set(node.id, { ...node, x: index * (BOX.width + GAP.x), y });
    });
  });
  return { placed, height };
}

function Picture({ nodes, edges }: { nodes: readonly TopologyNode[]; edges: readonly TopologyEdge[] }) {
  const { placed, height } = place5(nodes);
  const width = COLUMNS.length * (BOX.width + GAP.x) - GAP.x;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- who has no mouse has to be able to scroll it
    <div class="scroll picture" role="region" aria-label="Picture of the topology" tabIndex={0}>
      <svg
        viewBox={`-2 0 ${width + 4} ${height}`}
        width={width}
        height={height}
        role="group"
        aria-label="Topology"
      >
        {COLUMNS.map(({ column, title }, index) => (
          <text key={column} class="heading" x={index * (BOX.width + GAP.x)} y={18}>
            {title}
          </text>
        ))}
        {edges.map((edge) => (
          <Edge
            key={`${edge.from} ${edge.to}`}
            edge={edge}
            from={placed.get(edge.from)!}
            to={placed.get(edge.to)!}
          />
        ))}
        {[...placed.values()].map((node) => (
          <Node key={node.id} node={node} />
        ))}
      </svg>
    </div>
  );
}

function Edge({ edge, from, to }: { edge: TopologyEdge; from: Placed; to: Placed }) {
  const isSameColumn = from.x === to.x;
  const [x1, y1] = [isSameColumn ? from.x + BOX.width / 2 : from.x + BOX.width, from.y + BOX.height / 2];
  const [x2, y2] = [isSameColumn ? to.x + BOX.width / 2 : to.x, to.y + BOX.height / 2];
  const middle = (x1 + x2) / 2;
  const { requests, bytes: carried = 0 } = edge;
  const isBusy = requests !== undefined && requests > 0;
  return (
    <g class={isBusy ? 'edge busy' : 'edge'}>
      <path d={`M${x1},${y1} C${middle},${y1} ${middle},${y2} ${x2},${y2}`} />
      {isBusy && !isSameColumn && x2 - x1 <= GAP.x + 1 && (
        <text x={middle} y={(y1 + y2) / 2 - 4} text-anchor="middle">
          {rate(requests)}
        </text>
      )}
      {requests !== undefined && <title>{`${rate(requests)} requests, ${bytes(carried)}/s`}</title>}
    </g>
  );
}

const WORDS = { ready: 'ready', warning: 'warning', notReady: 'not ready', unknown: 'no status' };
const LONGEST = { label: 20, detail: 24 };
const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function Node({ node }: { node: Placed }) {
  const isWrong = node.state === 'notReady' || node.state === 'warning';
  const drawing = (
    <g class={`node ${node.state}`} transform={`translate(${node.x},${node.y})`}>
      <rect width={BOX.width} height={BOX.height} rx="8" />
      <text x="12" y="19" class="label">
        {cut(node.label, LONGEST.label)}
      </text>
      <text x="12" y="35" class="detail">
        {cut(isWrong ? `${WORDS[node.state]} · ${node.detail}` : node.detail, LONGEST.detail)}
      </text>
      {/* What a screen reader says. */}
      <title>{`${node.object?.kind ?? ''} ${node.label}, ${node.detail}: ${WORDS[node.state]}`.trim()}</title>
    </g>
  );
  if (!node.object) return drawing;
  return <a href={objectAddress(node.object)}>{drawing}</a>;
}

/** What colours mean. */
const Legend = () => (
  <p class="legend">
    <Badge state="ready" /> <Badge state="warning" /> <Badge state="notReady" /> <Badge state="unknown" />
  </p>
);
