/** Whether two spellings of a configuration value are the same value to Kafka. */
import type { DescribeConfigsResponseDescribeConfigsResourceResult as ConfigEntry } from '../../../kafka/schemas/types.ts';

/** Kafka's ids of types. */
const BOOLEAN = 1;
const WHOLE = new Set([3, 4, 5]);
const DOUBLE = 6;
const LIST = 7;

/** Sets, written as lists: their order has no meaning. */
const SETS: ReadonlyMap<string, string> = new Map([
  ['advertised.listeners', ','],
  ['controller.quorum.bootstrap.servers', ','],
  ['controller.quorum.voters', ','],
  ['listener.security.protocol.map', ','],
  ['listeners', ','],
  ['log.cleanup.policy', ','],
  ['sasl.enabled.mechanisms', ','],
  ['ssl.enabled.protocols', ','],
  ['super.users', ';'],
]);

/** Stands in what we write for the address that the start script finds out. */
const NODE_ADDRESS = '@node-address@';

const PREFIX = /^listener\.name\.[^.]+\./;

function items(value: string, separator: string): string[] {
  return value
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function wholeNumber(value: string): string {
  return /^[+-]?\d+$/.test(value) ? BigInt(value.replace('+', '')).toString() : value;
}

function normalise(value: string, { name, configType }: Pick<ConfigEntry, 'name' | 'configType'>): string {
  const text = value.trim();
  const separator = SETS.get(name.replace(PREFIX, ''));
  if (separator !== undefined) return items(text, separator).toSorted().join(separator);
  if (configType === LIST) return items(text, ',').join(',');
  if (configType === BOOLEAN) return text.toLowerCase();
  if (WHOLE.has(configType)) return wholeNumber(text);
  if (configType === DOUBLE && text !== '') return String(Number(text));
  return text;
}

/** Any address stands for the token; the rest has to be the same. */
function matches(live: string, wanted: string): boolean {
  const [before, after] = wanted.split(NODE_ADDRESS, 2);
  if (after === undefined) return live === wanted;
  const longer = live.length > before!.length + after.length;
  return longer && live.startsWith(before!) && live.endsWith(after);
}

/** Whether the live value of a key is the wanted one. An unset value and an empty one are the same in Kafka's answers. */
export function sameValue(
  entry: Pick<ConfigEntry, 'name' | 'value' | 'configType'>,
  wanted: string,
): boolean {
  const live = normalise(entry.value ?? '', entry);
  const text = normalise(wanted, entry);
  if (!text.includes(NODE_ADDRESS)) return live === text;
  const [liveItems, wantedItems] = [items(live, ','), items(text, ',')];
  return (
    liveItems.length === wantedItems.length &&
    wantedItems.every((item, index) => matches(liveItems[index]!, item))
  );
}
