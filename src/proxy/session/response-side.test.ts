import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiOf } from '../../kafka/apis.ts';
import { responseCodec } from '../../kafka/codec.ts';
import { encodeResponse } from '../../kafka/frame.ts';
import { BoundedMap } from '../../ops/bounded-map.ts';
import { createMetrics } from '../../ops/metrics.ts';
import { createStats } from '../cluster/stats.ts';
import { Tap } from '../cluster/tap.ts';
import { createTopology } from '../cluster/topology.ts';
import type { ConnectionFilter } from '../filter.ts';
import { createFilterChain } from './filter-chain.ts';
import { BadTraffic } from './frame-stream.ts';
import { InFlightQueue } from './in-flight.ts';
import { RequestSide } from './request-side.ts';
import { ResponseSide } from './response-side.ts';
import type { SessionState } from './session-state.ts';

/** The two sides of a session with one filter. */
function sides(filter: ConnectionFilter) {
  const cluster = {
    stats: createStats(createMetrics()).cluster('c'),
    tap: new Tap(),
    topology: createTopology(),
    topicNames: new BoundedMap<string, string>(10),
    filters: [filter],
  };
  const state = {
    info: { cluster, addressing: { advertise: () => undefined } },
    rules: { unknownApis: 'refuse', limits: { maxFrameBytes: 1000 } },
    chain: createFilterChain([filter]),
    inFlight: new InFlightQueue(),
    accepted: true,
    guessed: false,
    draining: false,
  } as unknown as SessionState;
  const answer = (api: 'Metadata' | 'ApiVersions', apiVersion: number, body: object) => {
    const apiKey = apiOf(api).key;
    const of = { correlationId: 7, apiKey, apiVersion, since: 0, answer: undefined };
    state.inFlight.push({ ...of, onResponse: undefined, tapped: undefined });
    const frame = encodeResponse(apiKey, apiVersion, { correlationId: 7 }, body);
    const side = new ResponseSide(state);
    side.decide(frame, 0);
    return side.take(frame);
  };
  return { answer, request: new RequestSide(state, () => {}), cluster };
}

test('a broker that gives one topic id to two topics is cut off: filters go by names', () => {
  const { answer, cluster } = sides({});
  const topicId = 'AAAAAAAAAAAAAAAAAAAAAQ';
  for (const name of ['secret', 'secret']) void answer('Metadata', 12, { topics: [{ name, topicId }] });
  assert.throws(() => answer('Metadata', 12, { topics: [{ name: 'public', topicId }] }), BadTraffic);
  assert.equal(cluster.topicNames.get(topicId), 'secret');
});

test('clients are offered no newer versions than filters can deal with, and cannot use them', () => {
  const { answer, request } = sides({ newestVersions: { Fetch: 12 } });
  const { key, max } = apiOf('Fetch');
  const outcome = answer('ApiVersions', 0, { apiKeys: [{ apiKey: key, minVersion: 4, maxVersion: max }] });
  assert.ok(typeof outcome === 'object' && 'forward' in outcome);
  assert.equal(responseCodec('ApiVersions', 0).decode(outcome.forward, 8).apiKeys[0]?.maxVersion, 12);
  const head = (version: number) => {
    const bytes = Buffer.alloc(20);
    bytes.writeInt32BE(16, 0);
    bytes.writeInt16BE(key, 4);
    bytes.writeInt16BE(version, 6);
    return bytes;
  };
  request.decide(head(12), 0, 20);
  assert.throws(() => request.decide(head(13), 0, 20), BadTraffic);
});
