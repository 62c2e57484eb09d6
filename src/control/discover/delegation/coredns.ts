/** CoreDNS: our block in the Corefile, or a key of ours in `coredns-custom`, which the platform's Corefile imports. */
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
import { createdWith, dataChange, keyRemoval } from './config-map.ts';
import type { ClusterDns, ConfigMap, PlatformChange, WantedDelegation } from './platform.ts';

const KEY = 'Corefile';
const CUSTOM_KEY = 'isthmus.server';
const CUSTOM_NAME = 'coredns-custom';
const NOTHING: PlatformChange = { object: undefined, write: undefined };
const NO_RELOAD =
  'the Corefile has no `reload`, so CoreDNS would not see a change: add it and restart CoreDNS';

/** Whether the Corefile imports server blocks from `coredns-custom`; such platforms overwrite the Corefile itself. */
export function isCustomised(coredns: ConfigMap | undefined): boolean {
  const parsed = parseCorefile(coredns?.data?.[KEY] ?? '');
  return 'imports' in parsed && parsed.imports.some((pattern) => pattern.endsWith('.server'));
}

/** The Corefile with our block between its markers. */
export function corefileChange(object: ConfigMap | undefined, wanted: WantedDelegation): PlatformChange {
  const before = object?.data?.[KEY];
  if (!object || before === undefined)
    return wanted.zones.length === 0 ? NOTHING : { problem: 'the ConfigMap has no Corefile' };
  const edited = wanted.zones.length === 0 ? undelegate(before, wanted.owner) : delegate(before, wanted);
  if ('problem' in edited) return edited;
  if (wanted.zones.length > 0 && !reloads(before)) return { problem: NO_RELOAD };
  return dataChange(object, KEY, edited.text);
}

/** Our key in `coredns-custom`, which is created if it does not exist, and deleted again if nothing else is in it. */
export function customChange({ coredns, custom }: ClusterDns, wanted: WantedDelegation): PlatformChange {
  const owner = ownerIn(custom?.data?.[CUSTOM_KEY] ?? '');
  const isOthers = owner !== undefined && owner !== wanted.owner;
  if (wanted.zones.length === 0) return isOthers ? NOTHING : keyRemoval(custom, CUSTOM_KEY);
  if (isOthers) return { problem: ownedElsewhere(owner) };
  const main = coredns?.data?.[KEY] ?? '';
  const others = Object.entries(custom?.data ?? {}).filter(
    ([key]) => key.endsWith('.server') && key !== CUSTOM_KEY,
  );
  const outside = parseCorefile([main, ...others.map(([, text]) => text)].join('\n'));
  if ('problem' in outside) return { problem: `the Corefile cannot be parsed: ${outside.problem}` };
  const collision = collisionOf(wanted.zones, outside.blocks);
  if (collision !== undefined) return { problem: collision };
  if (main !== '' && !reloads(main)) return { problem: NO_RELOAD };
  const text = ownerLine(wanted.owner) + delegationBlocks(wanted, outside);
  if (custom) return dataChange(custom, CUSTOM_KEY, text);
  const namespace = coredns?.metadata.namespace ?? 'kube-system';
  return createdWith({ namespace, name: CUSTOM_NAME }, CUSTOM_KEY, text);
}

/** The installations that delegate zones in the configuration of CoreDNS, also of that on the nodes. */
export function ownersOf({ coredns, custom, nodeCache }: ClusterDns): string[] {
  return [
    ...ownersIn(coredns?.data?.[KEY] ?? ''),
    ...ownersIn(nodeCache?.data?.[KEY] ?? ''),
    ...[ownerIn(custom?.data?.[CUSTOM_KEY] ?? '') ?? []].flat(),
  ];
}

/** Whether CoreDNS reloads its configuration; imported files may enable it, so imports count as yes. */
function reloads(text: string): boolean {
  const parsed = parseCorefile(text);
  const has = ({ blocks }: Corefile) =>
    blocks.some(({ plugins }) => plugins.some(({ name }) => name === 'reload'));
  return 'problem' in parsed || has(parsed) || parsed.imports.length > 0;
}
