/** What ends when, how old keys are, and which names lead where. */
import type { CertificateRow, KeyRow, KeysView, NameAnswer } from '../api.ts';
import { span } from './format.ts';
import { Badge, More, Nothing, NotSeen, Search, Table, Waiting } from './parts.tsx';
import { apiPath, useDocument } from './stream.ts';
import { place, setParam } from './url.ts';

export function Keys() {
  const view = useDocument<KeysView>(apiPath('keys', { q: place.value.params['q'] }));
  return (
    <>
      <h1>Keys, certificates, names</h1>
      <Search label="Find" />
      {view ? <Known view={view} /> : <Waiting />}
    </>
  );
}

function Known({ view }: { view: KeysView }) {
  return (
    <>
      <h2>Certificates, the first to end first</h2>
      {view.certificates ? <Certificates rows={view.certificates} /> : <NotSeen what="certificates" />}
      <h2>Keys</h2>
      {view.keys ? <KeyTable rows={view.keys} /> : <NotSeen what="keys" />}
      <h2>Names</h2>
      {view.zones ? <Zones dns={view.dns} zones={view.zones} /> : <NotSeen what="zones" />}
      {view.names.length > 0 && (
        <Table label="Names" headings={['Name', 'Type', 'Leads to', 'Comes from']}>
          {view.names.map(({ name, type, data, source }) => (
            <tr key={`${name} ${type} ${data}`}>
              <th scope="row">{name}</th>
              <td>{type}</td>
              <td>{data}</td>
              <td>{source}</td>
            </tr>
          ))}
        </Table>
      )}
      <More count={view.moreNames} what="names" />
    </>
  );
}

const Zones = ({ dns, zones }: { dns: string | undefined; zones: readonly string[] }) => (
  <>
    <Question />
    <p class="quiet">
      {dns
        ? `Answered for at ${dns}, zones ${zones.join(', ')}.`
        : 'No zone is served: virtual clusters behind a load balancer have names, and so have DNSEndpoints.'}
    </p>
  </>
);

const left = ({ daysLeft, expires }: CertificateRow) =>
  daysLeft < 0 ? `ended ${span(expires)} ago` : `${span(expires)} left`;

function Certificates({ rows }: { rows: readonly CertificateRow[] }) {
  if (rows.length === 0) return <Nothing>None: nobody speaks TLS here.</Nothing>;
  return (
    <Table label="Certificates" headings={['Left', 'Ends', 'Subject', 'Virtual cluster', 'Shown by']}>
      {rows.map((row) => (
        <tr key={`${row.virtualCluster} ${row.usedBy} ${row.subject}`}>
          <td>
            <Badge state={row.state} word={left(row)} />
          </td>
          <td>{row.expires.slice(0, 16).replace('T', ' ')}</td>
          <th scope="row">{row.subject || 'without a name'}</th>
          <td>{row.virtualCluster}</td>
          <td>{row.usedBy}</td>
        </tr>
      ))}
    </Table>
  );
}

function KeyTable({ rows }: { rows: readonly KeyRow[] }) {
  if (rows.length === 0) return <Nothing>No key has been asked for yet.</Nothing>;
  return (
    <Table
      label="Keys"
      headings={['Key', 'Virtual cluster', 'Data key made', 'Last used', 'Requests', 'Failures', 'State']}
    >
      {rows.map((row) => (
        <tr key={`${row.virtualCluster} ${row.key}`}>
          <th scope="row">{row.key}</th>
          <td>{row.virtualCluster}</td>
          <td>{row.dataKeySince ? `${span(row.dataKeySince)} ago` : '–'}</td>
          <td>{row.lastUsed ? `${span(row.lastUsed)} ago` : '–'}</td>
          <td class="number">{row.requests}</td>
          <td class="number">{row.failures}</td>
          <td>
            <Badge state={row.state} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

const TYPES = ['A', 'AAAA', 'CNAME', 'SRV', 'TXT', 'PTR', 'NS', 'SOA'];

/** “What would you answer?” */
function Question() {
  const { name = '', type = 'A' } = place.value.params;
  return (
    <>
      <div class="bar">
        <label class="search">
          <span>What would you answer for</span>
          <input value={name} onInput={(event) => setParam('name', event.currentTarget.value.trim())} />
        </label>
        <label class="choice">
          Type{' '}
          <select value={type} onChange={(event) => setParam('type', event.currentTarget.value)}>
            {TYPES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      </div>
      {name !== '' && <Answer name={name} type={type} />}
    </>
  );
}

function Answer({ name, type }: { name: string; type: string }) {
  const answer = useDocument<NameAnswer>(apiPath('name', { name, type }));
  if (!answer) return <Waiting />;
  const { problem, rcode, zone, answers } = answer;
  return (
    <div role="status">
      <p>{problem ?? `${rcode}, from ${zone ?? 'no zone that is served'}`}</p>
      {answers.length > 0 && (
        <Table label="Answer" headings={['Name', 'TTL', 'Type', 'Leads to', 'Comes from']}>
          {answers.map((one) => (
            <tr key={`${one.name} ${one.type} ${one.data}`}>
              <th scope="row">{one.name}</th>
              <td class="number">{one.ttl}</td>
              <td>{one.type}</td>
              <td>{one.data}</td>
              <td>{one.sources.join(', ')}</td>
            </tr>
          ))}
        </Table>
      )}
    </div>
  );
}
