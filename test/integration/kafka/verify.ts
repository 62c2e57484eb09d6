/** Whether we understand what others say: decoding and encoding a frame must give the same bytes. */
import assert from 'node:assert/strict';
import { apiOf } from '../../../src/kafka/apis.ts';
import { requestCodec, responseCodec } from '../../../src/kafka/codec.ts';
import {
  decodeRequestHeader,
  decodeResponseHeader,
  encodeRequest,
  encodeResponse,
} from '../../../src/kafka/frame.ts';
import { readBatches } from '../../../src/kafka/records/batch.ts';
import { encodeBatch } from '../../../src/kafka/records/write.ts';
import type { FetchResponse, ProduceRequest } from '../../../src/kafka/schemas/types.ts';
import { findNodeEndpoints } from '../../../src/kafka/skim.ts';
import type { Heard } from './tap.ts';

/** Throws unless the frame comes back to the byte, and so do the record batches in it. */
export function verifyFrame({ speaker, side, apiKey, version, frame }: Heard): void {
  const what = `${side} of ${apiOf(apiKey)?.name ?? apiKey} v${version} of ${speaker}`;
  if (side === 'request') {
    const { end, ...header } = decodeRequestHeader(frame, 4);
    const body = requestCodec(apiKey, version).decode(frame, end);
    assert.ok(encodeRequest(header, body).equals(frame), what);
    for (const records of recordsOf(apiKey, side, body)) verifyRecords(records, what);
  } else {
    const { end, ...header } = decodeResponseHeader(apiKey, version, frame, 4);
    const body = responseCodec(apiKey, version).decode(frame, end);
    assert.ok(encodeResponse(apiKey, version, header, body).equals(frame), what);
    findNodeEndpoints(apiKey, version, frame, end);
    for (const records of recordsOf(apiKey, side, body)) verifyRecords(records, what);
  }
}

function recordsOf(apiKey: number, side: Heard['side'], body: unknown): Buffer[] {
  const partitions =
    apiKey === 0 && side === 'request'
      ? (body as ProduceRequest).topicData.flatMap((topic) => topic.partitionData)
      : apiKey === 1 && side === 'response'
        ? (body as FetchResponse).responses.flatMap((topic) => topic.partitions)
        : [];
  return partitions.flatMap(({ records }) => (records ? [records] : []));
}

function verifyRecords(field: Buffer, what: string): void {
  const { batches } = readBatches(field);
  for (const batch of batches) {
    const records = [...batch.records()];
    assert.equal(records.length, batch.count, what);
    if (batch.compression === 'none') assert.ok(encodeBatch(batch, records).equals(batch.bytes), what);
  }
}
