/** Small things that several views have. */
import type { ComponentChildren } from 'preact';
import type { ObjectRef, Sight, State } from '../api.ts';
import { objectAddress, place, setParam } from './url.ts';

const STATES: Record<State, { symbol: string; word: string }> = {
  ready: { symbol: '✔', word: 'Ready' },
  warning: { symbol: '!', word: 'Warning' },
  notReady: { symbol: '✖', word: 'Not ready' },
  unknown: { symbol: '·', word: 'No status' },
};

/** Never by colour alone. */
export function Badge({ state, word }: { state: State; word?: string }) {
  const { symbol, word: usual } = STATES[state];
  return (
    <span class={`badge ${state}`}>
      <span aria-hidden="true">{symbol}</span> {word ?? usual}
    </span>
  );
}

export const ObjectLink = ({ of, children }: { of: ObjectRef; children?: ComponentChildren }) => (
  <a href={objectAddress(of)}>{children ?? `${of.kind} ${of.name}`}</a>
);

/** Columns of numbers are read from the right. */
const NUMBERS: ReadonlySet<string> = new Set([
  'All',
  'Ready',
  'Warning',
  'Not ready',
  'Requests',
  'In',
  'Out',
  'Errors',
  'Failures',
  'p99',
  'TTL',
  'Latency',
  'Request',
  'Response',
]);

/** A table that scrolls by itself where the window is narrow. */
export function Table(props: { label: string; headings: readonly string[]; children: ComponentChildren }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- who has no mouse has to be able to scroll it
    <div class="scroll" role="region" aria-label={props.label} tabIndex={0}>
      <table>
        <caption>{props.label}</caption>
        <thead>
          <tr>
            {props.headings.map((heading) => (
              <th key={heading} scope="col" class={NUMBERS.has(heading) ? 'number' : ''}>
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </div>
  );
}

/** The words that a view is narrowed down to; `/` leads here. */
export function Search({ label }: { label: string }) {
  return (
    <label class="search">
      <span>{label}</span>
      <input
        id="search"
        type="search"
        value={place.value.params['q'] ?? ''}
        onInput={(event) => setParam('q', event.currentTarget.value)}
        placeholder="words, e.g. orders unreachable"
      />
    </label>
  );
}

export const Waiting = () => <p class="quiet">Asking the server …</p>;

export const Nothing = ({ children }: { children: ComponentChildren }) => <p class="quiet">{children}</p>;

const PROXY_TOKEN = "kubectl get secret PROXY-management -o jsonpath='{.data.token}' | base64 -d > token";
const PROXY_PORT = 'kubectl port-forward deployment/PROXY 9190';
const PROXY_METRICS = 'curl -H "Authorization: Bearer $(cat token)" http://127.0.0.1:9190/metrics';

/** What a console of a cluster cannot see, why, and what shows it. */
const UNSEEN: Record<Sight, { why: string; lines: readonly string[] }> = {
  rates: {
    why: 'Rates are not seen from here: only the proxies know what they carry. Their metrics say it.',
    lines: [PROXY_TOKEN, PROXY_PORT, PROXY_METRICS],
  },
  traffic: {
    why: 'Traffic is not seen from here: only the proxies know it. One of them prints it in a terminal.',
    lines: [PROXY_TOKEN, PROXY_PORT, 'isthmus tap --proxy http://127.0.0.1:9190/ --token-file token'],
  },
  keys: {
    why: 'Keys are not seen from here: only the proxies know which they have asked for. Their metrics say it.',
    lines: [PROXY_TOKEN, PROXY_PORT, `${PROXY_METRICS} | grep kms_requests`],
  },
  certificates: {
    why: 'Certificates are not seen from here: they are in Secrets, which are not read. One that ends soon is a warning of its virtual cluster, and proxies say of all when they end.',
    lines: [PROXY_TOKEN, PROXY_PORT, `${PROXY_METRICS} | grep certificate_expiry`],
  },
  zones: {
    why: 'Which zones are served is not seen from here. The DNS server is asked in a terminal.',
    lines: ['isthmus dns query NAME TYPE'],
  },
};

export function NotSeen({ what }: { what: Sight }) {
  const { why, lines } = UNSEEN[what];
  return (
    <>
      <p class="quiet">{why}</p>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- who has no mouse has to be able to scroll it */}
      <pre class="scroll" role="region" aria-label={`What shows ${what}`} tabIndex={0}>
        {lines.join('\n')}
      </pre>
    </>
  );
}

export const More = ({ count, what }: { count: number; what: string }) =>
  count > 0 ? (
    <p class="quiet">
      … and {count.toLocaleString('en')} more {what}; narrow them down above.
    </p>
  ) : null;
