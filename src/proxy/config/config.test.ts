import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parse } from 'yaml';
import { JKS, PASSWORD } from '../../../test/support/key-stores.ts';
import { IsthmusError } from '../../ops/errors.ts';
import { checkProxyConfig } from './load.ts';
import type { VirtualClusterConfig } from './model.ts';
import { portBindings } from './ports.ts';

const check = (document: unknown, files: Record<string, string> = {}) =>
  checkProxyConfig(document, 'proxy.yaml', (path) => {
    const text = files[path];
    if (text === undefined) throw new Error('no such file');
    return Buffer.from(text);
  });

function problemsOf(document: unknown): string {
  try {
    check(document);
  } catch (error) {
    if (error instanceof IsthmusError) return error.message;
    throw error;
  }
  return 'none';
}

const PEM_NAMES = { certificate: { pem: 'c' }, privateKey: { pem: 'k' } };

const ORIGINAL = `
management:
  bindAddress: 127.0.0.1
  port: 9190
  endpoints:
    prometheus: {}
virtualClusters:
  - name: demo
    targetCluster:
      bootstrapServers: 127.0.0.1:19092, [::1]:9092
    gateways:
    - name: mygateway
      portIdentifiesNode:
        bootstrapAddress: 127.0.0.1:39092
        advertisedBrokerAddressPattern: 127.0.0.1
        nodeStartPort: 39093
        nodeIdRanges:
        - name: default
          start: 0
          end: 5
    logNetwork: false
    logFrames: false
  - name: sni
    targetCluster:
      bootstrapServers: 127.0.0.1:19092
      tls: {trust: {insecure: true}}
    gateways:
    - name: mygateway
      sniHostIdentifiesNode:
        bootstrapAddress: $(virtualClusterName).kafka.localhost:39292
        advertisedBrokerAddressPattern: broker-$(nodeId).$(virtualClusterName).localhost:443
      tls:
        key:
          storeFile: /tls/server.p12
          storePassword:
            password: changeit
          storeType: PKCS12
        trust:
          certificates: PEM
filterDefinitions:
  - name: encrypt
    type: RecordEncryption
    config: {kms: UnitTestingKmsService}
defaultFilters: [encrypt]
network: {proxy: {shutdownTimeout: 1m30s, authenticatedIdleTimeout: 500ms}}
`;

suite('configuration', () => {
  test('a file of the original is taken', () => {
    const { config, warnings } = check(parse(ORIGINAL), { '/tls/server.p12': 'p12' });
    const [demo, sni] = config.virtualClusters;
    assert.deepEqual(config.management, { host: '127.0.0.1', port: 9190 });
    assert.equal(config.shutdownTimeoutMs, 90_000);
    assert.deepEqual([config.limits.idleTimeoutMs, config.limits.maxFrameBytes], [500, 104_857_600]);
    assert.deepEqual(demo?.target.bootstrapServers, [
      { host: '127.0.0.1', port: 19_092 },
      { host: '::1', port: 9092 },
    ]);
    assert.equal(demo?.filters[0]?.type, 'RecordEncryption');
    assert.deepEqual(sni?.gateways[0]?.routing, {
      by: 'sni',
      bootstrap: { host: 'sni.kafka.localhost', port: 39_292 },
      brokerHostPattern: 'broker-$(nodeId).sni.localhost',
      brokerPort: 443,
      listenPort: 39_292,
    });
    assert.equal(sni?.gateways[0]?.tls?.clientAuth, 'required');
    assert.equal(sni?.target.tls?.insecure, true);
    assert.deepEqual(warnings, []);
  });

  const gateway = { name: 'g', portIdentifiesNode: { bootstrapAddress: 'h:9000' } };
  const cluster = { name: 'a', targetCluster: { bootstrapServers: 'k:9092' }, gateways: [gateway] };
  const only = (change: object) => ({ virtualClusters: [{ ...cluster, ...change }] });

  test('every limit has a finite default, and what is given for all workers is divided among them', () => {
    const { limits } = check({ ...only({}), workers: 4 }).config;
    for (const [key, value] of Object.entries(limits)) assert.ok(value > 0 && value < 1e9, key);
    const bytes = (given: object, workers: number) => {
      const { limits: found } = check({ ...only({}), workers, limits: given }).config;
      const { maxBufferedBytes, maxBufferedBytesPerVirtualCluster, maxBufferedBytesPerConnection } = found;
      return [maxBufferedBytes, maxBufferedBytesPerVirtualCluster, maxBufferedBytesPerConnection].map(
        (each) => each / 2 ** 20,
      );
    };
    assert.deepEqual(bytes({}, 1), [128, 96, 64]);
    assert.deepEqual(bytes({}, 4), [128, 96, 64]);
    assert.deepEqual(bytes({ maxBufferedBytes: 2 ** 28 }, 4), [64, 48, 64]);
    assert.deepEqual(bytes({ maxBufferedBytesPerVirtualCluster: 2 ** 26 }, 2), [128, 32, 64]);
  });

  test('gateways may have a PROXY protocol of their own; those that share a port share it, too', () => {
    const proxyProtocol = { mode: 'required', trustedSources: ['10.0.0.0/8'] };
    const { config } = check(only({ gateways: [{ ...gateway, proxyProtocol }] }));
    assert.deepEqual(config.proxyProtocol.mode, 'disabled');
    const [binding] = portBindings(config.virtualClusters).bindings.values();
    assert.deepEqual(binding?.proxyProtocol, proxyProtocol);
    const sni = (name: string, more: object) => ({
      ...(config.virtualClusters[0] as VirtualClusterConfig),
      name,
      gateways: [
        {
          name: 'g',
          bindAddress: undefined,
          tls: undefined,
          routing: {
            by: 'sni' as const,
            bootstrap: { host: name, port: 1 },
            brokerHostPattern: `b-$(nodeId).${name}`,
            brokerPort: 1,
            listenPort: 1,
          },
          ...more,
        },
      ],
    });
    const own = { proxyProtocol: { mode: 'required' as const, trustedSources: undefined } };
    assert.deepEqual(portBindings([sni('a', own), sni('b', own)]).conflicts, []);
    const [conflict] = portBindings([sni('a', own), sni('b', {})]).conflicts;
    assert.match(conflict!.problem, /another proxyProtocol at virtual cluster a/);
  });

  test('a target policy is part of every target', () => {
    const allow = ['10.0.0.0/8', '192.0.2.1', '*.kafka.svc'];
    const { config } = check({ ...only({}), targetPolicy: { allow } });
    assert.deepEqual(config.virtualClusters[0]?.target.policy, { allow, bootstrap: 'named' });
    for (const bad of ['http://kafka', '10.0.0.0/33', '300.1.1.1', '*', 'a..b'])
      assert.throws(() => check({ ...only({}), targetPolicy: { allow: [bad] } }), /must be a network/, bad);
  });

  test('no time-out, and one beyond what timers can wait, are not over at once', () => {
    for (const timeout of ['0s', '1000h']) {
      const limits = { connectTimeout: timeout, handshakeTimeout: timeout };
      const { connectTimeoutMs, handshakeTimeoutMs } = check({ ...only({}), limits }).config.limits;
      assert.deepEqual([connectTimeoutMs, handshakeTimeoutMs], [2 ** 31 - 1, 2 ** 31 - 1]);
    }
  });
  const port = (change: object) =>
    only({ gateways: [{ name: 'g', portIdentifiesNode: { bootstrapAddress: 'h:9000', ...change } }] });
  const sni = { bootstrapAddress: 'h:1', advertisedBrokerAddressPattern: 'b.x' };
  const key = { certificate: 'c', privateKey: 'k' };

  test('keys and certificates that have a name are what that name stands for, wherever it is used', () => {
    const trust = { certificates: { pem: 'c' } };
    const document = {
      pem: { c: 'C', k: 'K' },
      virtualClusters: [
        {
          name: 'a',
          targetCluster: { bootstrapServers: 'k:9092', tls: { key: PEM_NAMES, trust } },
          gateways: [{ ...gateway, tls: { key: [PEM_NAMES, key], trust } }],
        },
      ],
    };
    const inPlace = { certificate: 'C', privateKey: 'K' };
    const spelled = {
      virtualClusters: [
        {
          name: 'a',
          targetCluster: {
            bootstrapServers: 'k:9092',
            tls: { key: inPlace, trust: { certificates: 'C' } },
          },
          gateways: [{ ...gateway, tls: { key: [inPlace, key], trust: { certificates: 'C' } } }],
        },
      ],
    };
    assert.deepEqual(check(document), check(spelled));
  });

  test('a key may be in a JKS store', () => {
    const tls = { key: { storeFile: '/k.jks', storeType: 'jks', storePassword: { password: PASSWORD } } };
    const read = (password: string) =>
      checkProxyConfig(
        only({ gateways: [{ ...gateway, tls: { key: { ...tls.key, storePassword: { password } } } }] }),
        'proxy.yaml',
        () => JKS,
      );
    const [material] = read(PASSWORD).config.virtualClusters[0]!.gateways[0]!.tls!.keys;
    assert.match((material as { privateKey: string }).privateKey, /BEGIN PRIVATE KEY/);
    assert.throws(() => read('no'), /tls\.key\.storeFile: has a key that cannot be decrypted/);
  });

  const WRONG: [string, unknown, RegExp][] = [
    ['a misspelt key', only({ gatways: [] }), /virtualClusters\[a\]: .*gatways/],
    ['no port', only({ targetCluster: { bootstrapServers: 'k' } }), /bootstrapServers\.0: must be host:port/],
    ['port 0', port({ bootstrapAddress: 'h:0' }), /bootstrapAddress: must be host:port/],
    ['no target', only({ targetCluster: undefined }), /virtualClusters\[a\]: exactly one of target/],
    [
      'an unknown target',
      only({ targetCluster: undefined, target: { cluster: 'x' } }),
      /no clusterDefinition/,
    ],
    [
      'two kinds of gateway',
      only({ gateways: [{ ...gateway, sniHostIdentifiesNode: sni }] }),
      /exactly one of/,
    ],
    [
      'a key that is not in pem',
      { pem: { c: 'C' }, ...only({ gateways: [{ ...gateway, tls: { key: PEM_NAMES } }] }) },
      /gateways\.0\.tls\.key\.privateKey: is not the name of anything in pem/,
    ],
    [
      'what every object inherits for a name in pem',
      {
        pem: {},
        ...only({
          gateways: [{ ...gateway, tls: { key, trust: { certificates: { pem: 'constructor' } } } }],
        }),
      },
      /tls\.trust\.certificates: is not the name of anything in pem/,
    ],
    [
      'names without TLS',
      only({ gateways: [{ name: 'g', sniHostIdentifiesNode: sni }] }),
      /gateways\.0\.tls: /,
    ],
    [
      'no node id',
      only({ gateways: [{ name: 'g', sniHostIdentifiesNode: sni, tls: { key } }] }),
      /\$\(nodeId\)/,
    ],
    ['a range upside down', port({ nodeIdRanges: [{ start: 2, end: 1 }] }), /start must not be above end/],
    [
      'ranges that overlap',
      port({
        nodeIdRanges: [
          { start: 0, end: 5 },
          { start: 5, end: 6 },
        ],
      }),
      /nodeIdRanges: 0-5 and 5-6 overlap/,
    ],
    ['too many nodes', port({ nodeIdRanges: [{ start: 0, end: 65_000 }] }), /the last node would need port/],
    ['a filter that is not defined', only({ filters: ['f'] }), /filters: no filterDefinition is named "f"/],
    [
      'a filter that nobody uses',
      { ...only({}), filterDefinitions: [{ name: 'f', type: 't' }] },
      /"f" is used nowhere/,
    ],
    ['two of a name', { virtualClusters: [cluster, cluster] }, /"a" is there twice/],
    [
      'a port that is taken',
      { virtualClusters: [cluster, { ...cluster, name: 'b' }] },
      /port 9000 is taken by.* a/,
    ],
    [
      'a file that is not there',
      only({ gateways: [{ ...gateway, tls: { key: { storeFile: '/x' } } }] }),
      /cannot be read/,
    ],
    [
      'half a key',
      only({ gateways: [{ ...gateway, tls: { key: { privateKeyFile: '/x' } } }] }),
      /tls\.key\.0: must have/,
    ],
    ['a bad duration', only({ drainTimeout: '10' }), /drainTimeout: must be a duration/],
    [
      'a bad cipher',
      only({ gateways: [{ ...gateway, tls: { key, cipherSuites: { allowed: ['X'] } } }] }),
      /tls\.cipherSuites/,
    ],
  ];
  for (const [what, document, message] of WRONG)
    test(`${what} is refused, and the key is named`, () => assert.match(problemsOf(document), message));

  test('without virtual clusters there is nothing to do, and that is no error', () => {
    assert.deepEqual(check({ virtualClusters: [] }).config.virtualClusters, []);
  });

  test('PROXY headers that may be left out are believed of listed sources only, so there must be a list', () => {
    const proxied = (proxyProtocol: object) => ({ virtualClusters: [], proxyProtocol });
    assert.match(problemsOf(proxied({ mode: 'allowed' })), /proxyProtocol.trustedSources: is needed/);
    const good = { mode: 'allowed', trustedSources: ['10.0.0.0/8', 'fd00::/8'] };
    assert.deepEqual(check(proxied(good)).config.proxyProtocol, good);
    assert.equal(problemsOf(proxied({ mode: 'required' })), 'none');
    for (const bad of ['10.0.0.0', '10.0.0.0/33', 'x/8', 'fd00::/129'])
      assert.match(problemsOf(proxied({ mode: 'required', trustedSources: [bad] })), /CIDR/, bad);
  });

  test('what has no effect is said', () => {
    const { warnings } = check({ ...only({ logFrames: true }), useIoUring: true });
    assert.equal(warnings.length, 2);
  });

  test('gateways that are told apart by names share a port, and others get a port for each node', () => {
    const named = (name: string) => ({
      ...cluster,
      name,
      gateways: [
        {
          name: 'g',
          sniHostIdentifiesNode: {
            bootstrapAddress: `${name}.x:9291`,
            advertisedBrokerAddressPattern: `${name}-$(nodeId).x`,
          },
          tls: { key },
        },
      ],
    });
    const listen = { bootstrapPort: 100, nodeStartPort: 200 };
    const ports = { name: 'p', portIdentifiesNode: { bootstrapAddress: 'h:9082', listen } };
    const { config } = check({
      virtualClusters: [named('a'), named('b'), { ...cluster, name: 'c', gateways: [ports] }],
    });
    const { bindings } = portBindings(config.virtualClusters);
    assert.deepEqual([...bindings.keys()], ['*:9291', '*:100', '*:200', '*:201', '*:202']);
    assert.deepEqual(
      bindings.get('*:9291')?.sni.map(({ cluster: name }) => name),
      ['a', 'b'],
    );
    assert.deepEqual(bindings.get('*:202')?.destination, { cluster: 'c', gateway: 'p', node: 2 });
    const same = { virtualClusters: [named('a'), { ...named('a'), name: 'b' }] };
    assert.match(problemsOf(same), /a\.x on port 9291 is also of a/);
  });
});
