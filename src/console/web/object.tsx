/** One object: asked for against observed, conditions, events, what hangs on it, and how to see it in a terminal. */
import type { ObjectView, TreeRow } from '../api.ts';
import { Charts } from './charts.tsx';
import { span } from './format.ts';
import { Badge, Nothing, NotSeen, ObjectLink, Table, Waiting } from './parts.tsx';
import { sees } from './session.ts';
import { apiPath, useDocument } from './stream.ts';
import { place } from './url.ts';

export function ObjectPage() {
  const { kind = '', namespace = '', name = '' } = place.value.params;
  const view = useDocument<ObjectView>(apiPath('object', { kind, namespace, name }));
  return (
    <>
      <p class="quiet">{kind}</p>
      <h1>{name || 'No object'}</h1>
      {view === null && <Nothing>There is no {kind} of this name any more, or there never was.</Nothing>}
      {view === undefined && <Waiting />}
      {view && <Known view={view} />}
    </>
  );
}

function Known({ view }: { view: ObjectView }) {
  const { state, reason, message, namespace, file, line, created } = view;
  return (
    <>
      <p>
        <Badge state={state} {...(reason && { word: reason })} /> {namespace && <>in namespace {namespace}</>}{' '}
        {created && <>, {span(created)} old</>}
        {file && (
          <>
            {' '}
            from{' '}
            <code>
              {file}:{line}
            </code>
          </>
        )}
      </p>
      {message && <p>{message}</p>}
      <p>
        In a terminal: <code>{view.command}</code>
      </p>
      {view.kind === 'VirtualKafkaCluster' &&
        (sees('rates') ? <Charts cluster={view.name} /> : <NotSeen what="rates" />)}
      <h2>Asked for, and observed</h2>
      <Table label="Fields" headings={['Field', 'Asked for', 'Observed']}>
        {view.facts.map(({ name, wanted, observed }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              <code>{wanted}</code>
            </td>
            <td>{observed ? <code>{observed}</code> : '–'}</td>
          </tr>
        ))}
      </Table>
      <h2>Conditions</h2>
      <Conditions view={view} />
      <h2>Events</h2>
      <Events view={view} />
      <h2>What hangs together with it</h2>
      <ul class="tree">
        <Branch row={view.tree} />
      </ul>
      <h2>YAML</h2>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- who has no mouse has to be able to scroll it */}
      <pre class="scroll" role="region" aria-label="YAML of the object" tabIndex={0}>
        {view.yaml}
      </pre>
    </>
  );
}

function Conditions({ view: { conditions } }: { view: ObjectView }) {
  if (conditions.length === 0) return <Nothing>Objects of this kind have none.</Nothing>;
  return (
    <Table label="Conditions" headings={['Type', 'Status', 'Reason', 'For', 'What it says']}>
      {conditions.map(({ type, status, reason, message, since, cure }) => (
        <tr key={type}>
          <th scope="row">{type}</th>
          <td>{status}</td>
          <td>{reason}</td>
          <td>{span(since)}</td>
          <td>
            {message || '–'}
            {cure && <p class="cure">What to do: {cure}</p>}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Events({ view: { events } }: { view: ObjectView }) {
  if (events.length === 0) return <Nothing>None lately.</Nothing>;
  return (
    <Table label="Events" headings={['Ago', 'Type', 'Reason', 'What happened']}>
      {events.map(({ type, reason, note, at }) => (
        <tr key={`${at} ${reason} ${note}`}>
          <td>{span(at)}</td>
          <td>{type}</td>
          <td>{reason}</td>
          <td>{note}</td>
        </tr>
      ))}
    </Table>
  );
}

function Branch({ row }: { row: TreeRow }) {
  return (
    <li>
      <Badge state={row.state} {...(row.reason && { word: row.reason })} /> <ObjectLink of={row} />
      {row.children.length > 0 && (
        <ul>
          {row.children.map((child) => (
            <Branch key={`${child.kind}/${child.name}`} row={child} />
          ))}
          {row.more > 0 && <li class="quiet">… and {row.more} more</li>}
        </ul>
      )}
    </li>
  );
}
