import { TYPE } from '../wire/constants.ts';
import { formatName } from '../wire/name.ts';
import { parseRecord } from './source-record.ts';
import type { Name } from '../wire/name.ts';
import type { DnsRecord } from '../wire/record.ts';
import type { OwnedRecord, RejectedRecord, SourceRecord } from './source-record.ts';

/** A record, and what it was parsed from. */
export interface ParsedRecord {
  record: SourceRecord;
  origin: DnsRecord;
}

/** The records of a source by owner name, and those that no zone can hold. */
export interface ParsedSource {
  byName: Map<Name, ParsedRecord[]>;
  rejected: RejectedRecord[];
}

/** The apex of the zone that a name lies in. */
export type ApexOf = (name: Name) => Name | undefined;

/** Records that are parsed in one step. */
const A_STEP = 64;

/** Parses the records of a source, step by step. */
export function* parseSource(
  source: string,
  records: readonly DnsRecord[],
  apexOf: ApexOf,
): Generator<undefined, ParsedSource> {
  const result: ParsedSource = { byName: new Map(), rejected: [] };
  for (const [at, origin] of records.entries()) {
    if (at % A_STEP === A_STEP - 1) yield;
    const parsed = parseRecord(source, origin);
    const reason = 'problem' in parsed ? parsed.problem : checkZone(parsed.value, apexOf);
    if ('problem' in parsed || reason !== undefined) {
      result.rejected.push({ record: origin, reason: reason! });
      continue;
    }
    for (const { name, ...record } of parsed.value) {
      const same = result.byName.get(name);
      if (same) same.push({ record, origin });
      else result.byName.set(name, [{ record, origin }]);
    }
  }
  return result;
}

/** Why the zones cannot hold these records; undefined if they can. */
function checkZone(records: readonly OwnedRecord[], apexOf: ApexOf): string | undefined {
  for (const { name, type } of records) {
    const apex = apexOf(name);
    if (apex === undefined) return `${formatName(name)} is in no zone of this server`;
    if (type === TYPE.CNAME && name === apex) return 'a zone apex cannot have a CNAME record';
  }
  return undefined;
}
