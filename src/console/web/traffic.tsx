/** Requests as they come by. Nothing of records is in them. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { TrafficBatch, TrafficEntry } from '../api.ts';
import { bytes, clock, milliseconds } from './format.ts';
import { Nothing, NotSeen, Search, Table } from './parts.tsx';
import { sees } from './session.ts';
import { apiPath, listenTo } from './stream.ts';
import { place, setParam } from './url.ts';

const MOST_KEPT = 1000;
const MOST_SHOWN = 200;
/** A browser that paints more often has no time for anything else. */
const PAINT_EVERY_MS = 200;

const kept = signal<readonly (TrafficEntry & { id: number })[]>([]);
const missed = signal(0);
export const paused = signal(false);

/** Keeps what comes, and shows it a few times a second. */
function listen(): () => void {
  let waiting: TrafficEntry[] = [];
  let skipped = 0;
  let lastId = 0;
  const stop = listenTo<TrafficBatch>(apiPath('traffic'), (batch) => {
    if (paused.value) return;
    waiting.push(...batch.entries);
    skipped += batch.missed;
  });
  const timer = setInterval(() => {
    if (waiting.length === 0 && skipped === 0) return;
    const fresh = waiting.map((entry) => ({ ...entry, id: ++lastId })).toReversed();
    kept.value = [...fresh, ...kept.value].slice(0, MOST_KEPT);
    missed.value += skipped;
    waiting = [];
    skipped = 0;
  }, PAINT_EVERY_MS);
  return () => {
    stop();
    clearInterval(timer);
    kept.value = [];
    missed.value = 0;
  };
}

const VERDICTS = { forwarded: 'Forwarded', answered: 'Answered here', closed: 'Closed' } as const;

export const Traffic = () => (
  <>
    <h1>Traffic</h1>
    {sees('traffic') ? <Tapped /> : <NotSeen what="traffic" />}
  </>
);

function Tapped() {
  useEffect(listen, []);
  const { params } = place.value;
  const shown = kept.value.filter((entry) => isWanted(entry, params)).slice(0, MOST_SHOWN);
  return (
    <>
      <div class="bar">
        <Search label="Show only" />
        <label class="choice">
          Verdict{' '}
          <select
            value={params['verdict'] ?? ''}
            onChange={(event) => setParam('verdict', event.currentTarget.value)}
          >
            <option value="">any</option>
            {Object.entries(VERDICTS).map(([verdict, word]) => (
              <option key={verdict} value={verdict}>
                {word}
              </option>
            ))}
          </select>
        </label>
        <button type="button" aria-pressed={paused.value} onClick={() => (paused.value = !paused.value)}>
          {paused.value ? 'Go on' : 'Pause'}
        </button>
      </div>
      <p class="quiet" role="status">
        {paused.value ? 'Paused. ' : ''}
        {kept.value.length} requests kept
        {missed.value > 0 && `, ${missed.value.toLocaleString('en')} more were too many to show`}
      </p>
      {shown.length === 0 ? (
        <Nothing>
          Nothing has come by {kept.value.length > 0 ? 'that fits' : 'yet'}. Write to a virtual cluster, and
          it is here within a second.
        </Nothing>
      ) : (
        <Entries entries={shown} />
      )}
    </>
  );
}

const textOf = ({ virtualCluster, client, principal, clientId, api, topic, verdict, reason }: TrafficEntry) =>
  [virtualCluster, client, principal, clientId, api, topic, verdict, reason].join(' ').toLowerCase();

function isWanted(entry: TrafficEntry, { q = '', verdict = '' }: Readonly<Record<string, string>>): boolean {
  if (verdict !== '' && entry.verdict !== verdict) return false;
  const text = textOf(entry);
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

const HEADINGS = [
  'Time',
  'Client',
  'Who',
  'Virtual cluster',
  'API',
  'Topic',
  'Verdict',
  'Latency',
  'Request',
  'Response',
];

const Entries = ({ entries }: { entries: readonly (TrafficEntry & { id: number })[] }) => (
  <Table label="Requests, the newest first" headings={HEADINGS}>
    {entries.map((entry) => (
      <tr key={entry.id} class={entry.verdict}>
        <td>{clock(entry.at)}</td>
        <td>
          {entry.client}
          {entry.clientId && <span class="quiet"> {entry.clientId}</span>}
        </td>
        <td>{entry.principal ?? '–'}</td>
        <td>{entry.virtualCluster}</td>
        <td>{entry.api ? `${entry.api} v${entry.apiVersion}` : 'connection'}</td>
        <td>{entry.topic ?? '–'}</td>
        <td>
          {VERDICTS[entry.verdict]}
          {entry.reason && <span class="quiet"> {entry.reason}</span>}
        </td>
        <td class="number">{milliseconds(entry.latencyMs)}</td>
        <td class="number">{bytes(entry.requestBytes)}</td>
        <td class="number">{bytes(entry.responseBytes)}</td>
      </tr>
    ))}
  </Table>
);
