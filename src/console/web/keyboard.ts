/** Everything can be done without a mouse. */
import { paused } from './traffic.tsx';
import { addressOf, go } from './url.ts';

export const KEYS: readonly [string, string][] = [
  ['/', 'find'],
  ['f', 'fleet'],
  ['t', 'topology'],
  ['r', 'traffic'],
  ['k', 'keys, certificates, names'],
  ['p', 'pause the traffic, or go on'],
  ['?', 'this list'],
  ['Esc', 'leave a field, or this list'],
];

const ACTIONS: Readonly<Record<string, () => void>> = {
  '/': () => document.querySelector<HTMLInputElement>('#search')?.focus(),
  f: () => go(addressOf('fleet')),
  t: () => go(addressOf('topology')),
  r: () => go(addressOf('traffic')),
  k: () => go(addressOf('keys')),
  p: () => (paused.value = !paused.value),
  '?': () => document.querySelector<HTMLDialogElement>('#help')?.showModal(),
};

export function onKey(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (event.key === 'Escape') return target.blur();
  if (target.matches('input, select, textarea') || event.ctrlKey || event.metaKey || event.altKey) return;
  const action = ACTIONS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}
