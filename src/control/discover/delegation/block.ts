/** Our part of someone else's Corefile: between two markers, and nothing outside of them is ever changed. */
import { isIP, isIPv6 } from 'node:net';
import { normalKey, parseCorefile } from './corefile.ts';
import type { Corefile, ServerBlock } from './corefile.ts';

const BEGIN = '### BEGIN CROSS CLUSTER CONNECTIVITY';
const END = '### END CROSS CLUSTER CONNECTIVITY';
/** The end of line before our block is ours then, and goes with it. */
const UNENDED = '# The line above had no end.';
/** Words that mean the same in a Corefile, in JSON and to an operator. */
const ZONE = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
/**
 * What else our blocks say, where the Corefile says it, too: a plugin that nobody uses may not be in this build of CoreDNS. Not `reload`:
 * the last one in a Corefile decides for all. The cache would keep everything for 5 s at least if it were not told otherwise.
 */
const COMPANIONS: Readonly<Record<string, string>> = {
  errors: 'errors',
  cache: 'cache 30 {\n        success 9984 30 0\n        denial 9984 30 0\n    }',
};

/** Zones to be answered by another DNS server. */
export interface Delegation {
  zones: readonly string[];
  /** The address of our DNS server's Service, with a port if that is not 53; undefined where it is gone. */
  server: string | undefined;
}

export type Edited = { text: string } | { problem: string };

/** Why something cannot be delegated wherever that would be written; undefined if it can. */
export function problemOf({ zones, server }: Delegation): string | undefined {
  const odd = zones.find((zone) => !ZONE.test(zone) || zone.length > 253);
  if (odd !== undefined) return `${JSON.stringify(odd)} cannot be delegated`;
  const host = server === undefined ? '' : hostOf(server);
  return zones.length > 0 && isIP(host) === 0
    ? `${server ?? 'nothing'} is no address of a server`
    : undefined;
}

/** The server blocks that delegate zones, one a zone, in the manner of the Corefile that they are for. */
export function delegationBlocks({ zones, server = '' }: Delegation, { blocks }: Corefile): string {
  const used = new Set(blocks.flatMap(({ plugins }) => plugins.map(({ name }) => name)));
  const companions = Object.keys(COMPANIONS).filter((name) => used.has(name));
  const plugins = [...companions.map((name) => COMPANIONS[name]), `forward . ${server}`];
  const lines = plugins.map((plugin) => `    ${plugin}\n`).join('');
  const port = portOf(blocks);
  return zones
    .toSorted()
    .map((zone) => `${zone}:${port} {\n${lines}}\n`)
    .join('');
}

/** The Corefile with the delegation in it. Refuses one that it does not understand, or that serves a zone already. */
export function delegate(corefile: string, delegation: Delegation): Edited {
  const parts = split(corefile);
  if ('problem' in parts) return parts;
  const outside = parseCorefile(parts.before + parts.after);
  if ('problem' in outside) return { problem: `the Corefile is not understood: ${outside.problem}` };
  const collision = collisionOf(delegation.zones, outside.blocks);
  if (collision !== undefined) return { problem: collision };
  const isUnended = parts.before !== '' && !parts.before.endsWith('\n');
  const note = isUnended ? `${UNENDED}\n` : '';
  const blocks = delegationBlocks(delegation, outside);
  const text = `${parts.before}${isUnended ? '\n' : ''}${BEGIN}\n${note}${blocks}${END}\n${parts.after}`;
  return checked(text, outside.blocks.length + delegation.zones.length);
}

/** The Corefile as it would be without us. It is none of our business whether that makes sense. */
export function undelegate(corefile: string): Edited {
  const parts = split(corefile);
  return 'problem' in parts ? parts : { text: parts.before + parts.after };
}

/** Why zones cannot be served beside these blocks. */
export function collisionOf(zones: readonly string[], blocks: readonly ServerBlock[]): string | undefined {
  const port = portOf(blocks);
  const keys = new Set(blocks.flatMap((block) => block.keys.map(normalKey)));
  const own = blocks.flatMap(({ plugins }) =>
    plugins.filter(({ name }) => name === 'kubernetes').flatMap(({ words }) => wordsBeforeBrace(words)),
  );
  for (const zone of zones) {
    if (keys.has(normalKey(`${zone}:${port}`))) return `${zone} is served by a block of somebody else`;
    // A block of its own for the zone, or for one above it, would take the cluster's names away from the plugin.
    const hidden = own.find((name) => name === zone || name.endsWith(`.${zone}`));
    if (hidden !== undefined) return `${zone} would hide the cluster's own ${hidden}`;
  }
  return undefined;
}

/** Appended to an open block our own would become a part of it. */
function checked(text: string, blocks: number): Edited {
  const parsed = parseCorefile(text);
  if ('problem' in parsed) return { problem: `the Corefile would be broken: ${parsed.problem}` };
  if (parsed.blocks.length !== blocks) return { problem: 'the Corefile has no place for a block of ours' };
  return { text };
}

/** The port that the default zone is served on: OpenShift's is 5353. */
function portOf(blocks: readonly ServerBlock[]): string {
  const keys = blocks.flatMap((block) => block.keys);
  const root = keys.find((key) => /^(dns:\/\/)?\.(:\d+)?$/.test(key));
  return /:(\d+)$/.exec(root ?? '')?.[1] ?? '53';
}

function wordsBeforeBrace(words: readonly string[]): string[] {
  const brace = words.indexOf('{');
  return words.slice(0, brace < 0 ? undefined : brace).map((word) => word.toLowerCase().replace(/\.$/, ''));
}

function hostOf(server: string): string {
  return isIPv6(server) ? server : (/^\[?(.*?)\]?(:\d+)?$/.exec(server)?.[1] ?? '');
}

function split(corefile: string): { before: string; after: string } | { problem: string } {
  const lines = corefile.split('\n');
  const begins = lines.flatMap((line, i) => (line.trim() === BEGIN ? [i] : []));
  const ends = lines.flatMap((line, i) => (line.trim() === END ? [i] : []));
  if (begins.length === 0 && ends.length === 0) return { before: corefile, after: '' };
  const [begin = -1, end = -1] = [begins[0], ends[0]];
  if (begins.length !== 1 || ends.length !== 1 || end < begin)
    return { problem: 'the markers of our block are damaged; take them out by hand' };
  const after = lines.slice(end + 1).join('\n');
  const before = lines
    .slice(0, begin)
    .map((line) => `${line}\n`)
    .join('');
  const isUnended = lines[begin + 1]?.trim() === UNENDED && after === '';
  return { before: isUnended ? before.slice(0, -1) : before, after };
}
