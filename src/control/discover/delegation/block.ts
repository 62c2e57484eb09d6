/** Our part of someone else's Corefile: between two markers, and nothing outside of them is ever changed. */
import { normalKey, parseCorefile } from './corefile.ts';

const BEGIN = '### BEGIN CROSS CLUSTER CONNECTIVITY';
const END = '### END CROSS CLUSTER CONNECTIVITY';

/** Zones to be answered by another DNS server. */
export interface Delegation {
  zones: readonly string[];
  /** The address of our DNS server's Service. */
  server: string;
}

export type Edited = { text: string } | { problem: string };

/** The server blocks that delegate zones, one a zone, on the port that the Corefile's others are on. */
export function delegationBlocks({ zones, server }: Delegation, port = '53'): string {
  const target = server.includes(':') ? `[${server}]` : server;
  return zones
    .toSorted()
    .map((zone) => `${zone}:${port} {\n    errors\n    cache 30\n    forward . ${target}\n    reload\n}\n`)
    .join('');
}

/** The Corefile with the delegation in it. Refuses one that it does not understand, or that serves a zone already. */
export function delegate(corefile: string, delegation: Delegation): Edited {
  const parts = split(corefile);
  if ('problem' in parts) return parts;
  const outside = parseCorefile(parts.before + parts.after);
  if ('problem' in outside) return { problem: `the Corefile is not understood: ${outside.problem}` };
  const keys = outside.blocks.flatMap((block) => block.keys);
  const port = portOf(keys);
  const taken = delegation.zones.find((zone) =>
    keys.some((key) => normalKey(key) === normalKey(`${zone}:${port}`)),
  );
  if (taken !== undefined) return { problem: `${taken} is served by a block of somebody else` };
  const block = `${BEGIN}\n${delegationBlocks(delegation, port)}${END}\n`;
  const before = parts.before === '' || parts.before.endsWith('\n') ? parts.before : `${parts.before}\n`;
  return checked(before + block + parts.after);
}

/** The Corefile as it would be without us. */
export function undelegate(corefile: string): Edited {
  const parts = split(corefile);
  return 'problem' in parts ? parts : checked(parts.before + parts.after);
}

function checked(text: string): Edited {
  const parsed = parseCorefile(text);
  return 'problem' in parsed ? { problem: `the Corefile would be broken: ${parsed.problem}` } : { text };
}

/** The port that the default zone is served on: OpenShift's is 5353. */
function portOf(keys: readonly string[]): string {
  const root = keys.find((key) => /^(dns:\/\/)?\.(:\d+)?$/.test(key));
  return /:(\d+)$/.exec(root ?? '')?.[1] ?? '53';
}

function split(corefile: string): { before: string; after: string } | { problem: string } {
  const lines = corefile.split('\n');
  const begins = lines.flatMap((line, i) => (line.trim() === BEGIN ? [i] : []));
  const ends = lines.flatMap((line, i) => (line.trim() === END ? [i] : []));
  if (begins.length === 0 && ends.length === 0) return { before: corefile, after: '' };
  const [begin = -1, end = -1] = [begins[0], ends[0]];
  if (begins.length !== 1 || ends.length !== 1 || end < begin)
    return { problem: 'the markers of our block are damaged; take them out by hand' };
  const before = lines
    .slice(0, begin)
    .map((line) => `${line}\n`)
    .join('');
  return { before, after: lines.slice(end + 1).join('\n') };
}
