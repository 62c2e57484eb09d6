/** The two ways by CoreDNS: our block in the Corefile, or a file of ours that the platform's Corefile imports. */
import {
  collisionOf,
  delegate,
  delegationBlocks,
  ownedElsewhere,
  ownerIn,
  ownerLine,
  ownersIn,
  undelegate,
} from './corefile/block.ts';
import { parseCorefile } from './corefile/parse.ts';
import type { Corefile } from './corefile/parse.ts';
import type { ClusterDns, ConfigMap, Wanted, PlatformChange } from './platform.ts';

const KEY = 'Corefile';
const CUSTOM_KEY = 'isthmus.server';
const CUSTOM_NAME = 'coredns-custom';
/** On a ConfigMap that was not there before us. */
const MADE_BY = { 'app.kubernetes.io/managed-by': 'isthmus-dns' };
const NOTHING: PlatformChange = { object: undefined, write: undefined };
const NO_RELOAD =
  'the Corefile has no `reload`, so that CoreDNS would not see a change: add it and restart CoreDNS';

/** Whether the platform reads server blocks from a ConfigMap for additions, and minds its Corefile itself. */
export function isCustomised(coredns: ConfigMap | undefined): boolean {
  const parsed = parseCorefile(coredns?.data?.[KEY] ?? '');
  return 'imports' in parsed && parsed.imports.some((pattern) => pattern.endsWith('.server'));
}

/** The Corefile with our block between its markers. */
export function corefileChange(object: ConfigMap | undefined, wanted: Wanted): PlatformChange {
  const before = object?.data?.[KEY];
  if (!object || before === undefined)
    return wanted.zones.length === 0 ? NOTHING : { problem: 'there is no Corefile' };
  const edited = wanted.zones.length === 0 ? undelegate(before, wanted.owner) : delegate(before, wanted);
  if ('problem' in edited) return edited;
  if (wanted.zones.length > 0 && !reloads(before)) return { problem: NO_RELOAD };
  return dataChange(object, KEY, edited.text);
}

/** A key of ours in the ConfigMap for additions, which is made if there is none and taken away again if nothing else is in it. */
export function customChange({ coredns, custom }: ClusterDns, wanted: Wanted): PlatformChange {
  const owner = ownerIn(custom?.data?.[CUSTOM_KEY] ?? '');
  const isElsewhere = owner !== undefined && owner !== wanted.owner;
  if (wanted.zones.length === 0) return isElsewhere ? NOTHING : customRemoval(custom);
  if (isElsewhere) return { problem: ownedElsewhere(owner) };
  const main = coredns?.data?.[KEY] ?? '';
  const others = Object.entries(custom?.data ?? {}).filter(
    ([key]) => key.endsWith('.server') && key !== CUSTOM_KEY,
  );
  const outside = parseCorefile([main, ...others.map(([, text]) => text)].join('\n'));
  if ('problem' in outside) return { problem: `the Corefile is not understood: ${outside.problem}` };
  const collision = collisionOf(wanted.zones, outside.blocks);
  if (collision !== undefined) return { problem: collision };
  if (main !== '' && !reloads(main)) return { problem: NO_RELOAD };
  const text = ownerLine(wanted.owner) + delegationBlocks(wanted, outside);
  if (custom) return dataChange(custom, CUSTOM_KEY, text);
  const namespace = coredns?.metadata.namespace ?? 'kube-system';
  const metadata = { name: CUSTOM_NAME, namespace, labels: MADE_BY };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
  return { object, write: { object, patch: { data: { [CUSTOM_KEY]: text } }, undo: undefined } };
}

function customRemoval(custom: ConfigMap | undefined): PlatformChange {
  if (custom?.data?.[CUSTOM_KEY] === undefined) return { object: custom, write: undefined };
  const isOurs = Object.entries(MADE_BY).every(([label, value]) => custom.metadata.labels?.[label] === value);
  if (!isOurs || Object.keys(custom.data).length > 1) return dataChange(custom, CUSTOM_KEY, undefined);
  return { object: custom, write: { object: custom, patch: undefined, undo: undefined } };
}

/** Who of us has something in the configuration of CoreDNS. */
export function ownersOf({ coredns, custom }: ClusterDns): string[] {
  return [
    ...ownersIn(coredns?.data?.[KEY] ?? ''),
    ...[ownerIn(custom?.data?.[CUSTOM_KEY] ?? '') ?? []].flat(),
  ];
}

/** Whether CoreDNS looks for changes, as far as one can see: files that it imports may say so, too. */
function reloads(text: string): boolean {
  const parsed = parseCorefile(text);
  const has = ({ blocks }: Corefile) =>
    blocks.some(({ plugins }) => plugins.some(({ name }) => name === 'reload'));
  return 'problem' in parsed || has(parsed) || parsed.imports.length > 0;
}

/** Sets a key of a ConfigMap, or takes it out. */
export function dataChange(object: ConfigMap, key: string, text: string | undefined): PlatformChange {
  const before = object.data?.[key];
  if (before === text) return { object, write: undefined };
  const patchOf = (value: string | undefined) => ({ data: { [key]: value ?? null } });
  return { object, write: { object, patch: patchOf(text), undo: patchOf(before) } };
}
