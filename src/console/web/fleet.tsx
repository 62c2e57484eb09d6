/** What is wrong now, the worst first; then every virtual cluster. */
import type { ClusterRow, FleetView, Problem, Rates } from '../api.ts';
import { Charts } from './charts.tsx';
import { bytes, milliseconds, rate, short, span } from './format.ts';
import { Badge, More, Nothing, NotSeen, ObjectLink, Search, Table, Waiting } from './parts.tsx';
import { sees } from './session.ts';
import { apiPath, useDocument } from './stream.ts';
import { place } from './url.ts';

export function Fleet() {
  const view = useDocument<FleetView>(apiPath('fleet', { q: place.value.params['q'] }));
  return (
    <>
      <h1>Fleet</h1>
      <Search label="Find" />
      {view ? <Known view={view} /> : <Waiting />}
    </>
  );
}

function Known({ view }: { view: FleetView }) {
  const { problems, moreProblems, clusters, moreClusters, total } = view;
  return (
    <>
      <p class="quiet">
        {view.place}, Isthmus {view.version}
      </p>
      <section aria-labelledby="wrong">
        <h2 id="wrong">
          What is wrong {problems.length > 0 && <span class="count">{problems.length + moreProblems}</span>}
        </h2>
        {problems.length === 0 ? (
          <Nothing>Nothing that is known of.</Nothing>
        ) : (
          <ul class="problems">
            {problems.map((problem) => (
              <ProblemItem
                key={`${problem.object?.name} ${problem.reason} ${problem.message}`}
                problem={problem}
              />
            ))}
          </ul>
        )}
        <More count={moreProblems} what="problems" />
      </section>
      <section aria-labelledby="traffic-now">
        <h2 id="traffic-now">Traffic</h2>
        {total ? <Total rates={total} /> : <NotSeen what="rates" />}
      </section>
      <section aria-labelledby="clusters">
        <h2 id="clusters">Virtual clusters</h2>
        {clusters.length === 0 ? <Nothing>None.</Nothing> : <Clusters rows={clusters} />}
        <More count={moreClusters} what="virtual clusters" />
      </section>
      <section aria-labelledby="kinds">
        <h2 id="kinds">Resources</h2>
        <Table label="Resources by kind" headings={['Kind', 'All', 'Ready', 'Warning', 'Not ready']}>
          {view.counts.map(({ kind, all, ready, warning, notReady }) => (
            <tr key={kind}>
              <th scope="row">{kind}</th>
              {[all, ready, warning, notReady].map((count, column) => (
                <td key={column} class="number">
                  {count}
                </td>
              ))}
            </tr>
          ))}
        </Table>
      </section>
    </>
  );
}

const Total = ({ rates }: { rates: Rates }) => (
  <>
    <p class="figures">
      <b>{rate(rates.requests)}</b> requests, <b>{bytes(rates.bytesIn)}/s</b> in,{' '}
      <b>{bytes(rates.bytesOut)}/s</b> out, <b>{rate(rates.errors)}</b> errors, p99{' '}
      <b>{milliseconds(rates.p99Ms)}</b>, <b>{short(rates.connections)}</b> connections
    </p>
    <Charts cluster="" />
  </>
);

function ProblemItem({ problem }: { problem: Problem }) {
  const { state, object, reason, message, cure, since, file, line } = problem;
  return (
    <li class={state}>
      <p>
        <Badge state={state} word={reason} /> {object ? <ObjectLink of={object} /> : <code>{file}</code>}{' '}
        {since && <span class="quiet">for {span(since)}</span>}
      </p>
      <p>{message}</p>
      {cure && <p class="cure">What to do: {cure}</p>}
      {file && line !== undefined && (
        <p class="quiet">
          <code>
            {file}:{line}
          </code>
        </p>
      )}
    </li>
  );
}

const HEADINGS = ['Name', 'State', 'Clients connect to', 'Filters', 'Kafka'];
const CARRIED = ['Requests', 'In', 'Out', 'Errors', 'p99'];

function Clusters({ rows }: { rows: readonly ClusterRow[] }) {
  const hasRates = sees('rates');
  const hasCertificates = sees('certificates');
  const headings = [...HEADINGS, ...(hasRates ? CARRIED : []), ...(hasCertificates ? ['Certificate'] : [])];
  return (
    <Table label={hasRates ? 'Virtual clusters and what they carry' : 'Virtual clusters'} headings={headings}>
      {rows.map((row) => (
        <tr key={`${row.namespace}/${row.name}`}>
          <th scope="row">
            <ObjectLink of={row}>{row.name}</ObjectLink>
          </th>
          <td>
            <Badge state={row.state} {...(row.reason && { word: row.reason })} />
          </td>
          <td>{row.bootstrap.join(', ') || '–'}</td>
          <td>{row.filters.join(' → ') || '–'}</td>
          <td>{row.target}</td>
          {row.rates && <Carried rates={row.rates} />}
          {hasCertificates && <td>{row.certificateEnds ? `${span(row.certificateEnds)} left` : '–'}</td>}
        </tr>
      ))}
    </Table>
  );
}

const Carried = ({ rates }: { rates: Rates }) => (
  <>
    <td class="number">{rate(rates.requests)}</td>
    <td class="number">{bytes(rates.bytesIn)}/s</td>
    <td class="number">{bytes(rates.bytesOut)}/s</td>
    <td class="number">{rate(rates.errors)}</td>
    <td class="number">{milliseconds(rates.p99Ms)}</td>
  </>
);
