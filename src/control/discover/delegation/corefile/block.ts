/**
 * Our part of someone else's Corefile: between two markers, and nothing outside of them is ever changed. A block says whose it is, since
 * there may be several of us in one cluster; one that does not say it is from the days before, or of somebody who was here before us,
 * and is taken over.
 */
import { isIP, isIPv6 } from 'node:net';
import { normalKey, parseCorefile } from './parse.ts';
import type { Corefile, ServerBlock } from './parse.ts';

const BEGIN = '### BEGIN CROSS CLUSTER CONNECTIVITY';
const END = '### END CROSS CLUSTER CONNECTIVITY';
/** The end of line before our block is ours then, and goes with it. */
const UNENDED = '# The line above had no end.';
const OWNER_LINE = /^# By (\S+)\.$/;
const OWNER = /^[a-z0-9-]{1,63}\/[a-z0-9-]{1,63}$/;
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
  /** Whose they are: `<namespace>/<name>` of our Service. */
  owner: string;
}

export type Edited = { text: string } | { problem: string };

/** Why something cannot be delegated wherever that would be written; undefined if it can. */
export function problemOf({ zones, server, owner }: Delegation): string | undefined {
  if (!OWNER.test(owner)) return `${JSON.stringify(owner)} is no name of a Service`;
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

/** The line by which one of us knows its own part from another's. */
export function ownerLine(owner: string): string {
  return `# By ${owner}.\n`;
}

/** Whose a text is that begins with such a line; undefined if it does not say. */
export function ownerIn(text: string): string | undefined {
  return OWNER_LINE.exec(text.split('\n', 1)[0]?.trim() ?? '')?.[1];
}

/** Why zones that another one of us delegates are left alone. */
export function ownedElsewhere(owner: string): string {
  return `zones are delegated by another Isthmus already, ${owner}; to take that out: isthmus dns undelegate -n ${owner.split('/')[0]}`;
}

/** The Corefile with the delegation in it. Refuses one that it does not understand, or that serves a zone already. */
export function delegate(corefile: string, delegation: Delegation): Edited {
  const { zones, owner } = delegation;
  const parts = split(corefile, owner);
  if ('problem' in parts) return parts;
  const outside = parseCorefile(parts.before + parts.after);
  if ('problem' in outside) return { problem: `the Corefile is not understood: ${outside.problem}` };
  const collision = collisionOf(zones, outside.blocks);
  if (collision !== undefined) return { problem: rivalOf(delegation, outside, parts.others) ?? collision };
  const isUnended = parts.before !== '' && !parts.before.endsWith('\n');
  const notes = `${isUnended ? `${UNENDED}\n` : ''}${ownerLine(owner)}`;
  const blocks = delegationBlocks(delegation, outside);
  const text = `${parts.before}${isUnended ? '\n' : ''}${BEGIN}\n${notes}${blocks}${END}\n${parts.after}`;
  return checked(text, outside.blocks.length + zones.length);
}

/** The Corefile as it would be without us. It is none of our business whether that makes sense. */
export function undelegate(corefile: string, owner: string): Edited {
  const parts = split(corefile, owner);
  return 'problem' in parts ? parts : { text: parts.before + parts.after };
}

/** Who of us has a block in a Corefile. */
export function ownersIn(corefile: string): string[] {
  return (blocksIn(corefile.split('\n')) ?? []).flatMap(({ owner }) => owner ?? []);
}

/** Whether it is another one of us who stands in the way. */
function rivalOf({ zones }: Delegation, { blocks }: Corefile, others: readonly Block[]): string | undefined {
  const port = portOf(blocks);
  const rival = others.find(({ text, owner }) => {
    const parsed = parseCorefile(text);
    const keys = 'blocks' in parsed ? parsed.blocks.flatMap((block) => block.keys.map(normalKey)) : [];
    return owner !== undefined && zones.some((zone) => keys.includes(normalKey(`${zone}:${port}`)));
  });
  return rival?.owner && ownedElsewhere(rival.owner);
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

/** A block between markers. */
interface Block {
  begin: number;
  end: number;
  owner: string | undefined;
  text: string;
}

/** The text around our block, and the blocks of others like us. */
interface Parts {
  before: string;
  after: string;
  others: readonly Block[];
}

const DAMAGED = { problem: 'the markers of our block are damaged; take them out by hand' };

function split(corefile: string, owner: string): Parts | { problem: string } {
  const lines = corefile.split('\n');
  const blocks = blocksIn(lines);
  if (!blocks) return DAMAGED;
  const own = blocks.filter((block) => block.owner === owner);
  const candidates = own.length > 0 ? own : blocks.filter((block) => block.owner === undefined);
  const [ours, ...more] = candidates;
  if (more.length > 0) return DAMAGED;
  const others = blocks.filter((block) => block !== ours);
  if (!ours) return { before: corefile, after: '', others };
  const after = lines.slice(ours.end + 1).join('\n');
  const before = lines
    .slice(0, ours.begin)
    .map((line) => `${line}\n`)
    .join('');
  const isUnended = lines[ours.begin + 1]?.trim() === UNENDED && after === '';
  return { before: isUnended ? before.slice(0, -1) : before, after, others };
}

/** All blocks between markers; undefined if these do not come in pairs. */
function blocksIn(lines: readonly string[]): Block[] | undefined {
  const blocks: Block[] = [];
  let begin: number | undefined;
  for (const [i, line] of lines.entries()) {
    const word = line.trim();
    if (word !== BEGIN && word !== END) continue;
    if ((word === BEGIN) !== (begin === undefined)) return undefined;
    if (word === BEGIN) begin = i;
    else {
      const inner = lines.slice(begin! + 1, i);
      const notes = inner[0]?.trim() === UNENDED ? inner.slice(1) : inner;
      blocks.push({ begin: begin!, end: i, owner: ownerIn(notes[0] ?? ''), text: inner.join('\n') });
      begin = undefined;
    }
  }
  return begin === undefined ? blocks : undefined;
}
