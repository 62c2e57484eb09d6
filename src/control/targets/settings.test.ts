import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { readTargetSettings } from './settings.ts';

const settingsOf = (env: Record<string, string>) => {
  const result = readTargetSettings(env);
  assert.ok('settings' in result, JSON.stringify(result));
  return result.settings;
};
const faultsOf = (env: Record<string, string>) => {
  const result = readTargetSettings(env);
  assert.ok('faults' in result);
  return result.faults.join('\n');
};

const DOCUMENT = `cluster-id-a.url=https://a.example.com:6443
cluster-id-a.secret=secret-name-cluster-a
cluster-id-b.url=https://b.example.com:6443
cluster-id-b.secret=secret-name-cluster-b
`;

suite('clusters by environment', () => {
  test("as the document prints it, under both of the variable's names", () => {
    const remotes = [
      { id: 'cluster-id-a', url: 'https://a.example.com:6443', secret: 'secret-name-cluster-a' },
      { id: 'cluster-id-b', url: 'https://b.example.com:6443', secret: 'secret-name-cluster-b' },
    ];
    for (const variable of ['STRIMZI_K8S_CLUSTERS', 'STRIMZI_REMOTE_KUBE_CONFIG'])
      assert.deepEqual(settingsOf({ [variable]: DOCUMENT }).remotes, remotes);
    const both = { STRIMZI_K8S_CLUSTERS: DOCUMENT, STRIMZI_REMOTE_KUBE_CONFIG: DOCUMENT };
    assert.deepEqual(settingsOf(both).remotes, remotes);
  });

  test('nothing is asked for that is not there', () => {
    const nothing = { central: undefined, remotes: [], isStretching: true, networkPolicies: true };
    assert.deepEqual(settingsOf({}), nothing);
    const empty = { STRIMZI_K8S_CLUSTERS: ' \n', STRIMZI_CENTRAL_CLUSTER_ID: '', STRIMZI_STRETCH_MODE: '' };
    assert.deepEqual(settingsOf(empty), nothing);
  });

  test('the other variables', () => {
    const { central, isStretching, networkPolicies } = settingsOf({
      STRIMZI_CENTRAL_CLUSTER_ID: 'cluster-central',
      STRIMZI_STRETCH_MODE: 'true',
      STRIMZI_NETWORK_POLICY_GENERATION: 'false',
    });
    assert.deepEqual([central, isStretching, networkPolicies], ['cluster-central', true, false]);
    assert.equal(settingsOf({ STRIMZI_STRETCH_MODE: 'FALSE' }).isStretching, false);
  });

  test('each thing that is wrong is named, all of them at once', () => {
    const faults = faultsOf({
      STRIMZI_K8S_CLUSTERS:
        'a.url=ftp://x\nb.url=https://b\nUPPER.secret=x\nc.secret=No\nnonsense\nd.secret=d',
      STRIMZI_REMOTE_KUBE_CONFIG: 'd.secret=other\ne.url=https://me:pass@e',
      STRIMZI_CENTRAL_CLUSTER_ID: 'd',
      STRIMZI_STRETCH_MODE: 'yes',
    });
    for (const part of [
      /"ftp:\/\/x" is not an http or https URL/,
      /b\.secret is missing/,
      /"UPPER" is no id/,
      /"No" cannot be the name of a Secret/,
      /"nonsense": a line is ID\.url=URL or ID\.secret=NAME/,
      /d\.secret is given twice, as "d" and "other"/,
      /a URL with a password is not taken/,
      /"d" is also the id of a remote cluster/,
      /STRIMZI_STRETCH_MODE: "yes" is neither true nor false/,
    ])
      assert.match(faults, part);
  });

  test('whatever is given, it is read or refused, and long texts are not repeated in full', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 400 }), fc.string(), (map, id) => {
        const result = readTargetSettings({ STRIMZI_K8S_CLUSTERS: map, STRIMZI_CENTRAL_CLUSTER_ID: id });
        if ('faults' in result) for (const fault of result.faults) assert.ok(fault.length < 1000);
        else for (const remote of result.settings.remotes) assert.match(remote.id, /^[a-z0-9-]+$/);
      }),
    );
  });
});
