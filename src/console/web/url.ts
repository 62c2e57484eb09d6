/** Where one is, and every filter, are in the address: a link shows somebody else the same. */
import { signal } from '@preact/signals';

export const VIEWS = ['fleet', 'topology', 'traffic', 'keys', 'object'] as const;
export type ViewName = (typeof VIEWS)[number];

export interface Place {
  view: ViewName;
  params: Readonly<Record<string, string>>;
}

function read(): Place {
  const name = location.pathname.slice(1);
  const view = VIEWS.find((one) => one === name) ?? 'fleet';
  return { view, params: Object.fromEntries(new URLSearchParams(location.search)) };
}

export const place = signal<Place>(read());

addEventListener('popstate', () => (place.value = read()));

/** The address of a view. */
export function addressOf(view: ViewName, params: Readonly<Record<string, string | undefined>> = {}): string {
  const kept = Object.entries(params).filter((pair): pair is [string, string] => !!pair[1]);
  const query = new URLSearchParams(kept).toString();
  return `/${view}${query === '' ? '' : `?${query}`}`;
}

export function go(address: string): void {
  history.pushState(null, '', address);
  place.value = read();
  scrollTo(0, 0);
}

/** Changes a filter. Each letter of a word is no step to go back to. */
export function setParam(name: string, value: string): void {
  const { view, params } = place.value;
  history.replaceState(null, '', addressOf(view, { ...params, [name]: value }));
  place.value = read();
}

export const objectAddress = ({ kind, namespace, name }: { kind: string; namespace: string; name: string }) =>
  addressOf('object', { kind, namespace, name });

/** Links of ours are followed without loading the page again. */
export function followLinks(event: MouseEvent): void {
  const link = (event.target as Element | null)?.closest?.('a[href^="/"]');
  if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  go(link.getAttribute('href') ?? '/');
}
