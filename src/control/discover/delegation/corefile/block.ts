/**
 * Our block in a Corefile: between two markers, and nothing outside of them is ever changed. A block names its owner, since a cluster
 * may have several installations; a block without owner, of an older version or another program, is taken over.
 */
import { isIP, isIPv6 } from 'node:net';
import { normalKey, parseCorefile } from './parse.ts';
import type { Corefile, ServerBlock } from './parse.ts';

const BEGIN = '### BEGIN CROSS CLUSTER CONNECTIVITY';
const END = '### END CROSS CLUSTER CONNECTIVITY';
/** The newline before our block was added by us, and is removed with it. */
const UNENDED = '# The line above had no end.';
const OWNER_LINE = /^# By (\S+)\.$/;
const OWNER = /^[a-z0-9-]{1,63}\/[a-z0-9-]{1,63}$/;
/** Zones that need no escaping on any platform. */
const ZONE = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
/**
 * Further plugins of our blocks, if the Corefile uses them: others may be missing in this build of CoreDNS. Not `reload`: the last one
 * in a Corefile applies to all of it. Without the explicit minimum of 0 s the cache would keep every answer for at least 5 s.
 */
const EXTRA_PLUGINS: Readonly<Record<string, string>> = {
  errors: 'errors',
  cache: 'cache 30 {\n        success 9984 30 0\n        denial 9984 30 0\n    }',
};

/** Zones that the cluster's DNS forwards to our server. */
export interface Delegation {
  zones: readonly string[];
  /** The address of our Service, with a port if that is not 53; undefined if the Service is gone. */
  server: string | undefined;
  /** The installation: `<namespace>/<name>` of our Service. */
  owner: string;
}

export type Edited = { text: string } | { problem: string };

/** Why a delegation is invalid on every platform; undefined if it is valid. */
export function problemOf({ zones, server, owner }: Delegation): string | undefined {
  if (!OWNER.test(owner)) return `${JSON.stringify(owner)} is not the name of a Service`;
  const odd = zones.find((zone) => !ZONE.test(zone) || zone.length > 253);
  if (odd !== undefined) return `the zone ${JSON.stringify(odd)} cannot be delegated`;
  const host = server === undefined ? '' : hostOf(server);
  return zones.length > 0 && isIP(host) === 0 ? `${server ?? '""'} is not an IP address` : undefined;
}

/** One server block for each zone, with the addresses, port and plugins of the given Corefile. */
export function delegationBlocks({ zones, server = '' }: Delegation, { blocks }: Corefile): string {
  const used = new Set(blocks.flatMap(({ plugins }) => plugins.map(({ name }) => name)));
  const extra = Object.keys(EXTRA_PLUGINS).filter((name) => used.has(name));
  // A cache on a node listens on some of its addresses only.
  const bound = rootBlock(blocks)?.plugins.filter(({ name }) => name === 'bind') ?? [];
  const binds = bound.map(({ args }) => `bind ${beforeBrace(args).join(' ')}`);
  const plugins = [...extra.map((name) => EXTRA_PLUGINS[name]), ...binds, `forward . ${server}`];
  const lines = plugins.map((plugin) => `    ${plugin}\n`).join('');
  const port = portOf(blocks);
  return zones
    .toSorted()
    .map((zone) => `${zone}:${port} {\n${lines}}\n`)
    .join('');
}

/** The comment that names the owner of a block. */
export function ownerLine(owner: string): string {
  return `# By ${owner}.\n`;
}

/** The owner in the first line of a text; undefined if there is none. */
export function ownerIn(text: string): string | undefined {
  return OWNER_LINE.exec(text.split('\n', 1)[0]?.trim() ?? '')?.[1];
}

/** The problem where another installation delegates the zones. */
export function ownedElsewhere(owner: string): string {
  return `zones are already delegated by another Isthmus, ${owner}; to remove that: isthmus dns undelegate -n ${owner.split('/')[0]}`;
}

/** The Corefile with our block; a problem if it cannot be parsed, or serves one of the zones already. */
export function delegate(corefile: string, delegation: Delegation): Edited {
  const { zones, owner } = delegation;
  const parts = split(corefile, owner);
  if ('problem' in parts) return parts;
  const outside = parseCorefile(parts.before + parts.after);
  if ('problem' in outside) return { problem: `the Corefile cannot be parsed: ${outside.problem}` };
  const collision = collisionOf(zones, outside.blocks);
  if (collision !== undefined)
    return { problem: ownedZoneProblem(delegation, outside, parts.others) ?? collision };
  const isUnended = parts.before !== '' && !parts.before.endsWith('\n');
  const notes = `${isUnended ? `${UNENDED}\n` : ''}${ownerLine(owner)}`;
  const blocks = delegationBlocks(delegation, outside);
  const text = `${parts.before}${isUnended ? '\n' : ''}${BEGIN}\n${notes}${blocks}${END}\n${parts.after}`;
  return checked(text, outside.blocks.length + zones.length);
}

/** The Corefile without our block, whether the rest is valid or not. */
export function undelegate(corefile: string, owner: string): Edited {
  const parts = split(corefile, owner);
  return 'problem' in parts ? parts : { text: parts.before + parts.after };
}

/** The owners of all blocks in a Corefile. */
export function ownersIn(corefile: string): string[] {
  return (blocksIn(corefile.split('\n')) ?? []).flatMap(({ owner }) => owner ?? []);
}

/** The problem if another installation serves one of the zones. */
function ownedZoneProblem(
  { zones }: Delegation,
  { blocks }: Corefile,
  others: readonly Block[],
): string | undefined {
  const port = portOf(blocks);
  const other = others.find(({ text, owner }) => {
    const parsed = parseCorefile(text);
    const keys = 'blocks' in parsed ? parsed.blocks.flatMap((block) => block.keys.map(normalKey)) : [];
    return owner !== undefined && zones.some((zone) => keys.includes(normalKey(`${zone}:${port}`)));
  });
  return other?.owner && ownedElsewhere(other.owner);
}

/** Why zones cannot be added to these blocks. */
export function collisionOf(zones: readonly string[], blocks: readonly ServerBlock[]): string | undefined {
  const port = portOf(blocks);
  const keys = new Set(blocks.flatMap((block) => block.keys.map(normalKey)));
  const own = blocks.flatMap(({ plugins }) =>
    plugins.filter(({ name }) => name === 'kubernetes').flatMap(({ args }) => beforeBrace(args)),
  );
  const domains = own.map((name) => name.toLowerCase().replace(/\.$/, ''));
  for (const zone of zones) {
    if (keys.has(normalKey(`${zone}:${port}`))) return `${zone} is already served by another server block`;
    // A block for the cluster domain, or a domain above it, would hide the names of the `kubernetes` plugin.
    const hidden = domains.find((name) => name === zone || name.endsWith(`.${zone}`));
    if (hidden !== undefined) return `${zone} would hide the cluster's own ${hidden}`;
  }
  return undefined;
}

/** Parses the result: appended to an unclosed block, ours would become a part of it. */
function checked(text: string, blocks: number): Edited {
  const parsed = parseCorefile(text);
  if ('problem' in parsed) return { problem: `the Corefile would be invalid: ${parsed.problem}` };
  if (parsed.blocks.length !== blocks)
    return { problem: 'a server block cannot be appended to the Corefile' };
  return { text };
}

const ROOT_KEY = /^(?:dns:\/\/)?\.(?::(\d+))?$/;

/** The block of the default zone. */
function rootBlock(blocks: readonly ServerBlock[]): ServerBlock | undefined {
  return blocks.find(({ keys }) => keys.some((key) => ROOT_KEY.test(key)));
}

/** The port that the default zone is served on: OpenShift's is 5353. */
function portOf(blocks: readonly ServerBlock[]): string {
  const root = rootBlock(blocks)?.keys.find((key) => ROOT_KEY.test(key));
  return ROOT_KEY.exec(root ?? '')?.[1] ?? '53';
}

function beforeBrace(args: readonly string[]): string[] {
  const brace = args.indexOf('{');
  return args.slice(0, brace < 0 ? undefined : brace);
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

/** The text around our block, and the blocks of other installations. */
interface Parts {
  before: string;
  after: string;
  others: readonly Block[];
}

const DAMAGED = { problem: 'the markers of our block are damaged; remove them by hand' };

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

/** All blocks between markers; undefined if the markers do not pair. */
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
