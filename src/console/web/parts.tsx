/** Small things that several views have. */
import type { ComponentChildren } from 'preact';
import type { ObjectRef, State } from '../api.ts';
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

export const More = ({ count, what }: { count: number; what: string }) =>
  count > 0 ? (
    <p class="quiet">
      … and {count.toLocaleString('en')} more {what}; narrow them down above.
    </p>
  ) : null;
