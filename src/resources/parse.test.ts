import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { kafkaProxyIngress } from './kroxylicious/kafka-proxy-ingress.ts';
import { pathText } from './messages.ts';
import { parseAs, parseResource } from './parse.ts';

function problemsIn(document: unknown): string[] {
  const parsed = parseResource(document);
  return parsed.ok ? [] : parsed.problems.map(({ path, message }) => `${pathText(path)}: ${message}`);
}

const ingress = (spec: object) => ({
  apiVersion: 'kroxylicious.io/v1alpha1',
  kind: 'KafkaProxyIngress',
  metadata: { name: 'in' },
  spec: { proxyRef: { name: 'p' }, ...spec },
});

suite('parseResource', () => {
  test('yields a resource with its defaults filled in', () => {
    const parsed = parseResource(ingress({ clusterIP: { protocol: 'TCP' } }));
    assert.deepEqual(parsed, {
      ok: true,
      resource: {
        apiVersion: 'kroxylicious.io/v1alpha1',
        kind: 'KafkaProxyIngress',
        metadata: { name: 'in', namespace: 'default', labels: {}, annotations: {} },
        spec: {
          proxyRef: { kind: 'KafkaProxy', group: 'kroxylicious.io', name: 'p' },
          clusterIP: { protocol: 'TCP', port: 9082 },
          infrastructure: { annotations: {}, labels: {} },
          allowedInfrastructure: { annotations: ['service.beta.openshift.io/*'], labels: [] },
        },
      },
    });
  });

  test('refuses what is no resource at all', () => {
    for (const document of [null, 'text', 3, []]) assert.match(problemsIn(document)[0]!, /must be a mapping/);
    assert.deepEqual(problemsIn({}), ['apiVersion: is required', 'kind: is required']);
    assert.deepEqual(problemsIn({ apiVersion: 'kroxylicious.io/v1alpha1', kind: 'KafkaProxy' }), [
      'metadata: is required',
    ]);
  });

  test('says what it takes a wrong kind or version for', () => {
    const kind = (apiVersion: string, kind: string) => problemsIn({ apiVersion, kind })[0];
    assert.equal(
      kind('kroxylicious.io/v1', 'KafkaProxy'),
      'apiVersion: is not one that KafkaProxy has: write kroxylicious.io/v1alpha1',
    );
    assert.match(kind('kroxylicious.io/v1alpha1', 'KafkaProxi')!, /did you mean KafkaProxy\?$/);
    const secret = parseResource({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } });
    assert.ok(!secret.ok && secret.unknownKind);
  });

  test('lists all problems at once, each with its place', () => {
    assert.deepEqual(
      problemsIn(ingress({ clusterIP: { protocol: 'UDP', port: 70_000, prot: 1 }, tsl: {} })),
      [
        'spec.clusterIP.prot: is not a field; did you mean port?',
        'spec.tsl: is not a field; did you mean tls?',
        'spec.clusterIP.protocol: must be one of "TCP", "TLS", not "UDP"',
        'spec.clusterIP.port: must be at most 65535',
      ],
    );
  });

  test('takes a null for something that is not there', () => {
    assert.deepEqual(problemsIn(ingress({ clusterIP: { protocol: 'TCP', port: null }, tls: null })), []);
    assert.deepEqual(problemsIn(ingress({ clusterIP: null })).length, 1);
    assert.deepEqual(
      problemsIn({ ...ingress({ openShiftRoute: {} }), metadata: { name: 'in', creationTimestamp: null } }),
      [],
    );
  });

  test('keeps the nulls of what only a filter understands', () => {
    const parsed = parseResource({
      apiVersion: 'filter.kroxylicious.io/v1alpha1',
      kind: 'KafkaProtocolFilter',
      metadata: { name: 'f' },
      spec: { type: 'x', config: { a: null, b: [null] } },
    });
    assert.ok(parsed.ok && parsed.resource.kind === 'KafkaProtocolFilter');
    assert.deepEqual(parsed.resource.spec.config, { a: null, b: [null] });
  });

  test('is not confused by names that JavaScript knows', () => {
    const document = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {}}') as object;
    const problems = problemsIn({ ...ingress({ clusterIP: { protocol: 'TCP' } }), ...document });
    assert.deepEqual(problems, [
      '__proto__: is not a field; remove it',
      'constructor: is not a field; remove it',
    ]);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });

  test('may ignore fields that a newer API server has', () => {
    const document = ingress({ clusterIP: { protocol: 'TCP', someday: true } });
    assert.equal(parseAs(kafkaProxyIngress, document).ok, false);
    assert.equal(parseAs(kafkaProxyIngress, document, { unknownFields: 'ignore' }).ok, true);
  });
});
