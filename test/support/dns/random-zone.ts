// Zones and questions that are small, crowded and full of the cases that servers get wrong.
import type { RecordType } from '../../../src/dns/wire/constants.ts';
import type { Random } from './fuzzing.ts';
import type { DnsRecord } from '../../../src/dns/wire/record.ts';

const LABELS = ['a', 'b', 'c', 'ns', 'www', '*', '_tcp'];

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)]!;
}

/** A name in the zone, at most four labels deep, from so few labels that names meet. */
function randomName(random: Random, zone: string, labels = LABELS): string {
  let name = zone;
  for (let depth = random(5); depth > 0; depth--) name = `${pick(random, labels)}.${name}`;
  return name;
}

const OUTSIDE = ['ns.elsewhere.test', 'www.elsewhere.test'];

function randomTarget(random: Random, zone: string): string {
  return random(5) === 0 ? pick(random, OUTSIDE) : randomName(random, zone, ['a', 'b', 'c', 'ns', 'www']);
}

function randomData(random: Random, type: RecordType, zone: string): string {
  switch (type) {
    case 'A':
      return `10.${random(3)}.${random(3)}.${random(9)}`;
    case 'AAAA':
      return `fd00::${random(4)}:${random(9)}`;
    case 'TXT':
      return `"text ${random(5)}" "more"`;
    case 'SRV':
      return `${random(3)} ${random(3)} ${random(9)} ${randomTarget(random, zone)}`;
    case 'NS':
    case 'CNAME':
    case 'PTR':
      return randomTarget(random, zone);
  }
  return type satisfies never;
}

const TYPES: RecordType[] = [
  ...Array<RecordType>(6).fill('A'),
  'AAAA',
  'AAAA',
  'TXT',
  'TXT',
  'SRV',
  'SRV',
  'NS',
  'CNAME',
  'CNAME',
  'CNAME',
  'PTR',
];

/** Records for one zone, none of which a strict server would refuse to load; one TTL a record set. */
export function randomRecords(random: Random, zone: string, count: number): DnsRecord[] {
  const records: DnsRecord[] = [{ name: `ns.${zone}`, type: 'A', data: '10.9.9.9', ttl: 300 }];
  for (let i = 0; i < count; i++) {
    const name = randomName(random, zone);
    const type = pick(random, TYPES);
    const same = records.filter((other) => other.name === name);
    const isApex = name === zone;
    const taken = same.some((other) => (other.type === 'CNAME') !== (type === 'CNAME'));
    const refused =
      taken ||
      (type === 'CNAME' && (isApex || same.length > 0)) ||
      (type === 'NS' && (isApex || name.startsWith('*.')));
    if (refused) continue;
    const data = randomData(random, type, zone);
    if (same.some((other) => other.type === type && other.data === data)) continue;
    const ttl = same.find((other) => other.type === type)?.ttl ?? 60 + 60 * random(5);
    records.push({ name, type, data, ttl });
  }
  return records;
}

const ASKED = ['A', 'A', 'AAAA', 'TXT', 'SRV', 'NS', 'CNAME', 'PTR', 'SOA', 'DS', 'TYPE65'];

/** A question near the zone's names. */
export function randomQuestion(
  random: Random,
  zone: string,
  records: readonly DnsRecord[],
): { name: string; type: string } {
  const record = pick(random, records);
  if (random(3) === 0) return { name: record.name.replace(/^\*/, 'star'), type: record.type };
  const type = pick(random, ASKED);
  const known = record.name;
  const name = pick(random, [
    known,
    known,
    `x.${known}`,
    `x.y.${known}`,
    randomName(random, zone),
    randomName(random, zone),
  ]);
  return { name, type };
}
