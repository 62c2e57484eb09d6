import type { ApiName } from './apis.ts';
import { MalformedMessage } from './malformed.ts';
import { Reader } from './reader.ts';
import type { Requests, Responses } from './schemas/types.ts';
import { Writer } from './writer.ts';

/**
 * What members of a classic consumer group tell each other by way of the coordinator (protocol type `consumer`): to which
 * topics they subscribe, and who gets which partitions. Brokers read the first, too: offsets of topics that nobody in a
 * group subscribes to expire, and may be deleted.
 */

/** What becomes of a topic's name; undefined leaves the topic out. */
type ChangeTopic = (name: string) => string | undefined;

/** The newest version that is known of a subscription. A later one may have more fields behind those of this one. */
const NEWEST = 3;
const MOST_ELEMENTS = 1_000_000;
const CONSUMER = 'consumer';

/** Changes, in place, the names in what a request takes from a member to the coordinator. */
export function changeMemberRequest(api: ApiName, request: object, change: ChangeTopic): void {
  const { protocolType } = request as { protocolType?: string | null };
  if ((protocolType ?? CONSUMER) !== CONSUMER) return;
  if (api === 'JoinGroup')
    for (const protocol of (request as Requests['JoinGroup']).protocols)
      protocol.metadata = changeSubscription(protocol.metadata, change);
  if (api === 'SyncGroup')
    for (const member of (request as Requests['SyncGroup']).assignments)
      member.assignment = changeAssignment(member.assignment, change);
}

/** The same for what a response brings. Older versions do not say the protocol: then the bytes have to speak for themselves. */
export function changeMemberResponse(api: ApiName, response: object, change: ChangeTopic): void {
  const { protocolType } = response as { protocolType?: string | null };
  if ((protocolType || CONSUMER) !== CONSUMER) return;
  if (api === 'JoinGroup')
    for (const member of (response as Responses['JoinGroup']).members)
      member.metadata = changeSubscription(member.metadata, change);
  if (api === 'SyncGroup') {
    const assigned = response as Responses['SyncGroup'];
    assigned.assignment = changeAssignment(assigned.assignment, change);
  }
  if (api === 'DescribeGroups')
    for (const group of (response as Responses['DescribeGroups']).groups)
      for (const member of group.protocolType === CONSUMER ? group.members : []) {
        member.memberMetadata = changeSubscription(member.memberMetadata, change);
        member.memberAssignment = changeAssignment(member.memberAssignment, change);
      }
}

/** The same subscription with other names. User data is the assignor's own, and stays. */
export function changeSubscription(bytes: Buffer, change: ChangeTopic): Buffer {
  return changed(bytes, (reader, writer, version) => {
    changeTopics(reader, writer, change, false);
    writer.bytesField(reader.nullableBytes());
    if (version >= 1) changeTopics(reader, writer, change, true); // what it owns already
    if (version >= 2) writer.int32(reader.int32()); // generation
    if (version >= 3) writer.string(reader.nullableString()); // rack
  });
}

/** The same assignment with other names. */
export function changeAssignment(bytes: Buffer, change: ChangeTopic): Buffer {
  return changed(bytes, (reader, writer) => {
    changeTopics(reader, writer, change, true);
    writer.bytesField(reader.nullableBytes());
  });
}

/** Bytes that are not what they should be are left as they are: other protocols have others, and who has no assignment has none. */
function changed(bytes: Buffer, copy: (reader: Reader, writer: Writer, version: number) => void): Buffer {
  const reader = new Reader(bytes, 0, bytes.length, 'consumer protocol', MOST_ELEMENTS);
  const writer = new Writer(0, bytes.length + 64);
  try {
    const version = reader.int16();
    writer.int16(version);
    copy(reader, writer, version);
    if (version <= NEWEST && reader.at < bytes.length) return bytes;
    writer.raw(bytes.subarray(reader.at));
    return writer.done();
  } catch (error) {
    if (error instanceof MalformedMessage) return bytes;
    throw error;
  }
}

/** Copies a list of topics, by itself or with a list of partitions each. */
function changeTopics(reader: Reader, writer: Writer, change: ChangeTopic, hasPartitions: boolean): void {
  const count = reader.arrayLength(2);
  const kept: [name: string, partitions: Buffer][] = [];
  for (let i = 0; i < count; i++) {
    const name = change(reader.string());
    const start = reader.at;
    if (hasPartitions) reader.take(4 * Math.max(0, reader.arrayLength(4)));
    if (name !== undefined) kept.push([name, reader.bytes.subarray(start, reader.at)]);
  }
  writer.int32(count < 0 ? count : kept.length);
  for (const [name, partitions] of kept) {
    writer.string(name);
    writer.raw(partitions);
  }
}
