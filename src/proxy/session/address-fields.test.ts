import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ALL_APIS, apiOf } from '../../kafka/apis.ts';
import type { Api } from '../../kafka/apis.ts';
import { responseCodec } from '../../kafka/codec.ts';
import { decodeResponseHeader, encodeResponse } from '../../kafka/frame.ts';
import { includes, schemaOf } from '../../kafka/schema.ts';
import type { Field, MessageName } from '../../kafka/schema.ts';
import { SCHEMAS } from '../../kafka/schemas/messages.ts';
import { createMetrics } from '../../ops/metrics.ts';
import { createStats } from '../cluster/stats.ts';
import { Tap } from '../cluster/tap.ts';
import { createTopology } from '../cluster/topology.ts';
import { createFilterChain } from './filter-chain.ts';
import { GATHER } from './frame-stream.ts';
import { InFlightQueue } from './in-flight.ts';
import { ResponseSide } from './response-side.ts';
import { isServed } from './served-apis.ts';
import type { SessionState } from './session-state.ts';

/**
 * What becomes of every field of the protocol that looks like an address: each line is a decision, a message and its
 * fields. A field of a newer Kafka that is not here fails the test, and so does one that is not treated as it says.
 */
const DECISIONS = `
rewritten MetadataResponse brokers.host brokers.port
rewritten FindCoordinatorResponse host port coordinators.host coordinators.port
rewritten DescribeClusterResponse brokers.host brokers.port
rewritten ProduceResponse nodeEndpoints.host nodeEndpoints.port
rewritten FetchResponse nodeEndpoints.host nodeEndpoints.port
rewritten ShareFetchResponse nodeEndpoints.host nodeEndpoints.port
rewritten ShareAcknowledgeResponse nodeEndpoints.host nodeEndpoints.port
removed DescribeQuorumResponse nodes.listeners.host nodes.listeners.port
refused AddRaftVoterRequest listeners.host listeners.port
refused UpdateRaftVoterRequest listeners.host listeners.port
refused UpdateRaftVoterResponse currentLeader.host currentLeader.port
refused BrokerRegistrationRequest listeners.host listeners.port
refused ControllerRegistrationRequest listeners.host listeners.port
refused BeginQuorumEpochRequest leaderEndpoints.host leaderEndpoints.port
refused BeginQuorumEpochResponse nodeEndpoints.host nodeEndpoints.port
refused EndQuorumEpochRequest leaderEndpoints.host leaderEndpoints.port
refused EndQuorumEpochResponse nodeEndpoints.host nodeEndpoints.port
refused VoteResponse nodeEndpoints.host nodeEndpoints.port
refused FetchSnapshotResponse nodeEndpoints.host nodeEndpoints.port
refused EnvelopeRequest clientHostAddress
embedded VotersRecord voters.endpoints.host voters.endpoints.port
client DescribeGroupsResponse groups.members.clientHost
client ConsumerGroupDescribeResponse groups.members.clientHost
client ShareGroupDescribeResponse groups.members.clientHost
client StreamsGroupDescribeResponse groups.members.clientHost
client StreamsGroupDescribeResponse groups.members.userEndpoint.host groups.members.userEndpoint.port
client StreamsGroupHeartbeatRequest userEndpoint.host userEndpoint.port
client StreamsGroupHeartbeatResponse partitionsByUserEndpoint.userEndpoint.host
client StreamsGroupHeartbeatResponse partitionsByUserEndpoint.userEndpoint.port
client CreateAclsRequest creations.host
client DeleteAclsRequest filters.hostFilter
client DeleteAclsResponse filterResults.matchingAcls.host
client DescribeAclsRequest hostFilter
client DescribeAclsResponse resources.acls.host
none DescribeClusterRequest endpointType
none DescribeClusterResponse endpointType
none StreamsGroupHeartbeatRequest endpointInformationEpoch
none StreamsGroupHeartbeatResponse endpointInformationEpoch
none ConsumerGroupHeartbeatRequest serverAssignor
`;
/** Why a field passes as it is. */
const HARMLESS: Record<string, string> = {
  embedded: 'in records of the metadata log, which a broker gives to no client',
  client: 'the address of a client, or of the proxy as brokers see it, never of a broker',
  none: 'no address, in spite of its name',
};

const ADDRESS_WORDS = new Set(
  'host hosts hostname port ports endpoint endpoints listener listeners address addresses addr ip server servers url uri'.split(
    ' ',
  ),
);
const looksLikeAddress = (name: string) =>
  name.split(/(?=[A-Z])/).some((word) => ADDRESS_WORDS.has(word.toLowerCase()));

const decided = new Map(
  DECISIONS.trim()
    .split('\n')
    .flatMap((line) => {
      const [decision = '', message, ...paths] = line.split(' ');
      return paths.map((path) => [`${message} ${path}`, decision] as const);
    }),
);

/** Every field that holds a value, with its path. */
function* leaves(fields: Field[], prefix = ''): Generator<[path: string, field: Field]> {
  for (const field of fields) {
    if (field.fields) yield* leaves(field.fields, `${prefix}${field.name}.`);
    else yield [prefix + field.name, field];
  }
}

const CANARY_PORT = 47_815;

/** A message with an address of ours in every field that looks like one, and one element in every list. */
function withCanaries(fields: Field[], version: number, fixed: object, prefix = ''): object {
  const values: Record<string, unknown> = {};
  for (const { name, type, array, versions, fields: inner } of fields) {
    if (!includes(versions, version)) continue;
    const path = prefix + name;
    const value = inner ? withCanaries(inner, version, {}, `${path}.`) : canary(path, name, type);
    if (value !== undefined) values[name] = array ? [value] : value;
  }
  return { ...values, ...fixed };
}

function canary(path: string, name: string, type: string): unknown {
  if (type === 'string') return looksLikeAddress(name) ? `canary-${path}` : 'text';
  if (name === 'port') return CANARY_PORT;
  return name === 'nodeId' || name === 'brokerId' ? 1 : undefined;
}

/** The paths at which a canary is still to be read. */
function* survivors(value: unknown, prefix = ''): Generator<string> {
  if (Array.isArray(value)) for (const each of value) yield* survivors(each, prefix);
  else if (typeof value === 'object' && value !== null && !Buffer.isBuffer(value))
    for (const [name, each] of Object.entries(value))
      yield* survivors(each, prefix === '' ? name : `${prefix}.${name}`);
  else if (value === CANARY_PORT || String(value).startsWith('canary')) yield prefix;
}

function sessionState(): SessionState {
  const cluster = {
    stats: createStats(createMetrics()).cluster('c'),
    tap: new Tap(),
    topology: createTopology(),
    filters: [],
    reportUnadvertised() {},
  };
  return {
    info: {
      cluster,
      addressing: {
        bootstrap: { host: 'proxy', port: 1 },
        advertise: () => ({ host: 'proxy', port: 2 }),
      },
    },
    rules: { unknownApis: 'refuse' },
    chain: createFilterChain([]),
    inFlight: new InFlightQueue(),
    authenticated: true,
    guessed: false,
    draining: false,
  } as unknown as SessionState;
}

/** What a client gets of a response that comes from the broker whole. */
function passedOn({ key: apiKey }: Api, apiVersion: number, frame: Buffer): Buffer {
  const state = sessionState();
  state.inFlight.push({
    correlationId: 7,
    apiKey,
    apiVersion,
    since: 0,
    answer: undefined,
    onResponse: undefined,
    tapped: undefined,
  });
  const side = new ResponseSide(state);
  const decision = side.decide(frame, 0);
  const wanted =
    decision === GATHER || (typeof decision === 'object' && decision.feed(frame, 8, frame.length) >= 0);
  const outcome = wanted ? side.take(frame) : 'pass';
  if (outcome === 'pass') return frame;
  assert.ok(typeof outcome === 'object' && 'forward' in outcome);
  return outcome.forward;
}

suite('address fields', () => {
  test('there is a decision on every field that looks like an address, and none on others', () => {
    const found = (Object.keys(SCHEMAS) as MessageName[]).flatMap((message) =>
      [...leaves(schemaOf(message).fields)]
        .filter(([, { name }]) => looksLikeAddress(name))
        .map(([path]) => `${message} ${path}`),
    );
    assert.deepEqual([...decided.keys()].toSorted(), [...new Set(found)].toSorted());
    const known = new Set(['rewritten', 'removed', 'refused', ...Object.keys(HARMLESS)]);
    assert.deepEqual([...new Set(decided.values())].toSorted(), [...known].toSorted());
  });

  test('the APIs whose addresses are refused are not served', () => {
    for (const [key, decision] of decided) {
      const api = key.split(' ')[0]!.replace(/(Request|Response)$/, '');
      if (decision === 'refused')
        assert.equal(isServed(apiOf(api as Api['name']).key, 0, 'pass'), false, api);
    }
  });

  for (const api of ALL_APIS.filter(({ key, max }) => isServed(key, max, 'refuse'))) {
    test(`${api.name}: no broker's address comes through, in any version and with any error`, () => {
      const message = `${api.name}Response` as const;
      const { fields } = schemaOf(message);
      for (let version = api.min; version <= api.max; version++)
        for (const errorCode of [0, 15]) {
          const draft = withCanaries(fields, version, api.name === 'FindCoordinator' ? { errorCode } : {});
          for (const each of (draft as { coordinators?: object[] }).coordinators ?? [])
            Object.assign(each, { errorCode });
          const frame = encodeResponse(api.key, version, { correlationId: 7 }, draft);
          const out = passedOn(api, version, frame);
          const { end } = decodeResponseHeader(api.key, version, out, 4);
          const seen = [...survivors(responseCodec(api.name, version).decode(out, end))];
          const bad = seen.filter((path) => !((decided.get(`${message} ${path}`) ?? '') in HARMLESS));
          assert.deepEqual(bad, [], `v${version}`);
          if (seen.length === 0) assert.ok(!out.includes('canary'), `v${version}: hidden, and still there`);
        }
    });
  }
});

test('a cluster of controllers is not shown as one of brokers', () => {
  const api = apiOf('DescribeCluster');
  const brokers = [{ brokerId: 3000, host: 'controller', port: 9093 }];
  const frame = encodeResponse(api.key, 2, { correlationId: 7 }, { endpointType: 2, brokers });
  const out = passedOn(api, 2, frame);
  const { end } = decodeResponseHeader(api.key, 2, out, 4);
  assert.deepEqual(responseCodec('DescribeCluster', 2).decode(out, end).brokers, []);
});

test('settings of a broker that are addresses are hidden as a secret would be, others are shown', () => {
  const api = apiOf('DescribeConfigs');
  const config = (name: string) => ({ name, value: 'broker:1', synonyms: [{ name, value: 'broker:1' }] });
  const names = [
    'listeners',
    'advertised.listeners',
    'controller.quorum.voters',
    'controller.quorum.bootstrap.servers',
    'rlmm.config.remote.log.metadata.common.client.bootstrap.servers',
    'zookeeper.connect',
    'host.name',
    'advertised.port',
    'log.retention.ms',
    'listener.security.protocol.map',
  ];
  for (let version = api.min; version <= api.max; version++) {
    const results = [4, 2].map((resourceType) => {
      return { resourceType, resourceName: '1', configs: names.map(config) };
    });
    const out = passedOn(api, version, encodeResponse(api.key, version, { correlationId: 7 }, { results }));
    const { end } = decodeResponseHeader(api.key, version, out, 4);
    const [broker, topic] = responseCodec('DescribeConfigs', version).decode(out, end).results;
    for (const [i, { name, value, isSensitive, synonyms }] of broker!.configs.entries()) {
      const shown = i >= names.length - 2;
      assert.equal(value, shown ? 'broker:1' : null, name);
      assert.equal(isSensitive, !shown, name);
      assert.equal(synonyms[0]?.value, shown ? 'broker:1' : null, name);
    }
    assert.ok(topic!.configs.every(({ value }) => value === 'broker:1'));
  }
});
