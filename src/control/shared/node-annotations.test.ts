import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { annotationChanges, nodeAnnotations, nodeLabelAnnotation, nodeWishesIn } from './node-annotations.ts';

const NODE = {
  name: 'n1',
  labels: {
    'topology.kubernetes.io/zone': 'z1',
    'topology.kubernetes.io/region': 'r1',
    'example.com/rack': 'k7',
  },
  addresses: [
    { type: 'Hostname', address: 'n1' },
    { type: 'InternalIP', address: '10.0.0.1' },
    { type: 'ExternalIP', address: '192.0.2.1' },
    { type: 'ExternalIP', address: '2001:db8::1' },
  ],
};
const NO_WISHES = nodeWishesIn();

suite('node annotations', () => {
  test('a pod is told name, zone, region and addresses, the farthest reach first', () => {
    assert.deepEqual(nodeAnnotations(NODE, NO_WISHES), {
      'isthmus.dev/node-name': 'n1',
      'isthmus.dev/node-zone': 'z1',
      'isthmus.dev/node-region': 'r1',
      'isthmus.dev/node-address': '192.0.2.1',
      'isthmus.dev/node-addresses': JSON.stringify(NODE.addresses),
    });
  });

  test('what a node does not have is left out', () => {
    const bare = { name: 'n1', labels: {}, addresses: [] };
    assert.deepEqual(nodeAnnotations(bare, NO_WISHES), { 'isthmus.dev/node-name': 'n1' });
  });

  test('a set chooses the type of address, and falls back where the node has none of it', () => {
    const addressFor = (type: string) =>
      nodeAnnotations(NODE, nodeWishesIn({ 'isthmus.dev/preferred-address-type': type }))[
        'isthmus.dev/node-address'
      ];
    assert.equal(addressFor('InternalIP'), '10.0.0.1');
    assert.equal(addressFor('Hostname'), 'n1');
    assert.equal(addressFor('ExternalDNS'), '192.0.2.1');
    assert.equal(addressFor('constructor'), '192.0.2.1');
  });

  test('a set may ask for more labels', () => {
    const wishes = nodeWishesIn({ 'isthmus.dev/node-labels': 'example.com/rack, absent,,not a label' });
    assert.deepEqual(wishes.labels, ['example.com/rack', 'absent']);
    const told = nodeAnnotations(NODE, wishes);
    assert.equal(told['isthmus.dev/node-label.example.com_rack'], 'k7');
    assert.equal(told['isthmus.dev/node-label.absent'], undefined);
  });

  test('each label has an annotation of its own, with a name that an API server takes', () => {
    const word = fc.stringMatching(/^[a-z0-9]([-a-z0-9_.]{0,61}[a-z0-9])?$/);
    const domain = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,80}[a-z0-9])?$/);
    const label = fc.oneof(
      word,
      fc.tuple(domain, word).map((parts) => parts.join('/')),
    );
    fc.assert(
      fc.property(label, label, (one, other) => {
        const [prefix, name = ''] = nodeLabelAnnotation(one).split('/');
        assert.equal(prefix, 'isthmus.dev');
        assert.match(name, /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/);
        assert.equal(nodeLabelAnnotation(one) === nodeLabelAnnotation(other), one === other);
      }),
    );
    assert.notEqual(nodeLabelAnnotation('a/b'), nodeLabelAnnotation('a_b'));
  });

  test('a change says what differs, takes off what is no longer so, and lets others be', () => {
    const wanted = nodeAnnotations(NODE, NO_WISHES);
    assert.equal(annotationChanges({ ...wanted, other: 'x' }, wanted), undefined);
    const moved = {
      ...wanted,
      'isthmus.dev/node-zone': 'z0',
      'isthmus.dev/node-label.gone': 'x',
      other: 'x',
    };
    assert.deepEqual(annotationChanges(moved, wanted), {
      'isthmus.dev/node-zone': 'z1',
      'isthmus.dev/node-label.gone': null,
    });
  });
});
