import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { Command } from 'commander';
import { createProgram, runProgram } from './program.ts';
import type { Terminal } from './terminal.ts';

async function isthmus(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const written = { out: '', err: '' };
  const terminal: Terminal = {
    out: (text) => void (written.out += text),
    err: (text) => void (written.err += text),
    exitCode: 0,
  };
  return { code: await runProgram(args, terminal), ...written };
}

/** Every command and sub-command, as the words that call it. */
function commandLines(command: Command, words: string[] = []): string[][] {
  return command.commands.flatMap((child) => [
    [...words, child.name()],
    ...commandLines(child, [...words, child.name()]),
  ]);
}

suite('the program', () => {
  const silent: Terminal = { out: () => {}, err: () => {}, exitCode: 0 };

  test('every command has a help text on stdout that says what it does', async () => {
    for (const words of commandLines(createProgram(silent))) {
      const { code, out, err } = await isthmus(...words, '--help');
      assert.equal(code, 0);
      assert.equal(err, '');
      assert.match(out, new RegExp(`^Usage: isthmus ${words.join(' ')}`));
      assert.ok(out.split('\n')[2]!.length > 10, `${words.join(' ')} needs a description`);
    }
  });

  test('options of installing that messages advise exist', async () => {
    const { out } = await isthmus('install', '--help');
    const advised = globSync('src/**/*.ts').flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/isthmus install (--[a-z-]+)/g)].map(([, flag]) => flag!),
    );
    assert.ok(advised.length > 0);
    assert.deepEqual(advised.filter((flag) => !new RegExp(`${flag}\\s`).test(out)), []); // prettier-ignore
  });

  test('wrong usage ends with 2 and says what is possible, on stderr', async () => {
    for (const args of [
      ['sail'],
      ['install', '--boat'],
      ['install', '--roads', 'rail'],
      ['operator', '--roads', 'expose'], // nothing is promised that is not there
      ['install', '--replicas', '0'],
      ['install', '--roads', ''],
      ['install', '--image', ''],
      ['install', '--namespace', 'Not_A_Name'],
      ['operator', '--kafka-image', '4.3.1'],
      ['install', '--kafka-image', 'latest=apache/kafka'],
      ['install', '--probe-resolver', 'dns.example.com'],
      ['install', '--probe-networks', '127.0.0.1/33'],
      ['install', '--probe-from', 'East'],
      ['install', '--probe-from', 'a,b,c,d,e,f,g,h,i'],
      ['install', '--external-dns-metrics', 'external-dns.dns:7979'],
      ['install', '--crds', ''],
      ['install', '--crds', 'stirmzi'],
      ['install', '--crds', 'none,strimzi'],
      ['install', '--watch-namespaces', ''],
      ['install', '--watch-namespaces', 'a,B'],
      ['operator', '--management-port', ''],
      ['up', '-f', '.', '--kafka', 'localhost'],
      ['up', '-f', '.', '--port', '0'],
      ['status', '--timeout', 'soon'],
      ['check', 'rail'],
      ['proxy', '--config', 'x', '--log-level', 'loud'],
    ]) {
      const { code, out, err } = await isthmus(...args);
      assert.equal(code, 2, args.join(' '));
      assert.equal(out, '');
      assert.match(err, /--help/);
    }
  });

  test('images of Kafka and a resolver are told to the operator, and a PodMonitor is printed where asked for', async () => {
    const resolver = [
      '--probe-resolver',
      '192.0.2.53:5353',
      '--probe-networks',
      '127.0.0.0/8,fe80::1',
      '--probe-from',
      'east,west',
      '--external-dns-metrics',
      'http://dns.test:7979/metrics',
      '--cluster-id',
      'hub',
    ];
    const images = ['4.3.1=r.test/kafka:a', '4.2.1=r.test/kafka:b'].flatMap((one) => ['--kafka-image', one]);
    const { out } = await isthmus(
      'install',
      '--roads',
      'kafka',
      ...images,
      ...resolver,
      '--pod-monitor',
      '-o',
      'json',
    );
    const { items } = JSON.parse(out) as { items: { kind: string; spec?: object }[] };
    const deployment = JSON.stringify(items.find(({ kind }) => kind === 'Deployment'));
    for (const flag of [
      '--kafka-image=4.3.1=r.test/kafka:a',
      '--kafka-image=4.2.1=r.test/kafka:b',
      '--probe-resolver=192.0.2.53:5353',
      '--probe-networks=127.0.0.0/8,fe80::1',
      '--probe-from=east,west',
      '--external-dns-metrics=http://dns.test:7979/metrics',
      '--cluster-id=hub',
    ])
      assert.ok(deployment.includes(JSON.stringify(flag)), flag);
    assert.ok(items.some(({ kind }) => kind === 'PodMonitor'));
    const { out: usual } = await isthmus('install', '-o', 'json');
    assert.doesNotMatch(usual, /"PodMonitor"|isthmus-console|--kafka-image|--probe-resolver|--external-dns/);
  });

  test('the help of a command below another one has the options of that one', async () => {
    assert.match((await isthmus('dns', 'query', '--help')).out, /--config <file>/);
  });

  test('lists may have blanks, and repetitions count once', async () => {
    const roles = async (list: string) => {
      const { out } = await isthmus('install', '--crds', 'none', '--watch-namespaces', list);
      return out.split('kind: Role\n').length - 1;
    };
    assert.equal(await roles('team-a, team-b,team-a'), await roles('team-a,team-b'));
    assert.ok((await roles('team-a,team-b')) > (await roles('team-a')));
  });

  test('install prints documents that can be piped on, and nothing else', async () => {
    const { code, out, err } = await isthmus('install', '--image', 'registry.example/isthmus:1');
    assert.equal(code, 0);
    assert.equal(err, '');
    const documents = [parseAllDocuments(out)].flat().map((document) => document.toJS() as { kind: string });
    const kinds = documents.map(({ kind }) => kind);
    assert.ok(kinds.includes('CustomResourceDefinition'));
    assert.ok(kinds.indexOf('Namespace') < kinds.indexOf('Deployment'));
    assert.match(out, /image: registry\.example\/isthmus:1/);
  });

  test('install prints CRDs of other projects only where asked, and none to take an installation out', async () => {
    const kindsIn = async (...flags: string[]) => {
      const { out } = await isthmus('install', '--output', 'json', ...flags);
      const { items } = JSON.parse(out) as { items: { kind: string; metadata: { name: string } }[] };
      return items.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    };
    const crdsOf = async (...flags: string[]) => {
      const all = await kindsIn(...flags);
      return all.filter((item) => item.startsWith('CustomResourceDefinition'));
    };
    const groupsOf = async (...flags: string[]) =>
      new Set((await crdsOf(...flags)).map((crd) => crd.slice(crd.indexOf('.') + 1)));
    const own = ['kroxylicious.io', 'filter.kroxylicious.io', 'isthmus.dev'];
    const strimzi = ['kafka.strimzi.io', 'core.strimzi.io'];
    assert.deepEqual(await groupsOf(), new Set(own));
    assert.deepEqual(await groupsOf('--crds', 'own'), new Set(own));
    assert.deepEqual(await groupsOf('--crds', 'strimzi'), new Set([...own, ...strimzi]));
    assert.deepEqual(
      await groupsOf('--crds', 'strimzi,redpanda,external-dns,mcs'),
      await groupsOf('--crds', 'all'),
    );
    const shared = /CustomResourceDefinition|isthmus-(admin|developer|viewer)/;
    const all = await kindsIn();
    assert.deepEqual(
      ['admin', 'developer', 'viewer'].filter((persona) => !all.includes(`ClusterRole isthmus-${persona}`)),
      [],
    );
    const left = await kindsIn('--crds', 'none');
    assert.deepEqual(
      left.filter((item) => shared.test(item)),
      [],
    );
    assert.ok(left.includes('Deployment isthmus-operator'));
  });

  test('install grants what the chosen roads need, and no more', async () => {
    const rulesOf = async (...flags: string[]) => {
      const { out } = await isthmus('install', '--output', 'json', '--crds', 'none', ...flags);
      const { items } = JSON.parse(out) as { items: Manifest[] };
      const role = items.find(({ kind }) => kind === 'ClusterRole');
      const policies = items.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');
      const args = items.find(({ kind }) => kind === 'Deployment')!.spec!.template.spec.containers[0]!.args;
      return { resources: role!.rules!.flatMap(({ resources }) => resources), policies, args };
    };
    const pods = await rulesOf('--roads', 'pod-sets');
    assert.deepEqual(pods.resources.toSorted(), [
      'events',
      'kafkaanchors',
      'kafkaanchors/status',
      'nodes',
      'pods',
      'strimzipodsets',
      'strimzipodsets/status',
    ]);
    assert.deepEqual(pods.policies, []);
    assert.ok(pods.args.includes('--roads=pod-sets'));
    const proxy = await rulesOf();
    assert.ok(proxy.args.includes('--roads=proxy'));
    assert.ok(!proxy.resources.includes('strimzipodsets'));
    const both = await rulesOf('--roads', 'proxy,pod-sets');
    assert.deepEqual(new Set(both.resources), new Set([...proxy.resources, ...pods.resources]));
  });

  test('explain says what a code means, and what is close to one that is none', async () => {
    const { code, out } = await isthmus('explain', 'hostnametaken');
    assert.equal(code, 0);
    assert.match(out, /^HostNameTaken: .*\n\nWhy: .*\nWhat to do: .*\nMore: .*codes\.md#hostnametaken\n$/);
    assert.match((await isthmus('explain')).out, /\nCLUSTER_UNREACHABLE +error /);
    const misspelt = await isthmus('explain', 'HostNamTaken');
    assert.deepEqual([misspelt.code, /is it HostNameTaken\?/.test(misspelt.err)], [2, true]);
  });

  test('install takes no namespace for its own that may be somebody else’s', async () => {
    const { out } = await isthmus('install', '--namespace', 'kafka');
    assert.doesNotMatch(out, /^kind: Namespace$/m);
    assert.match(out, /^ {2}namespace: kafka$/m);
    assert.match((await isthmus('install')).out, /^kind: Namespace$/m);
  });

  test('a question that is none says what is wrong with it', async () => {
    const config = write({ zones: [{ name: 'example.test' }] });
    const answer = await isthmus('dns', 'query', 'foo.example.test', '--config', config);
    assert.match(answer.out, /^NXDOMAIN/);
    const noType = await isthmus('dns', 'query', 'foo.example.test', 'NOPE', '--config', config);
    assert.deepEqual([noType.code, /"NOPE" is not a type/.test(noType.err)], [2, true]);
    const noName = await isthmus('dns', 'query', 'foo..test', '--config', config);
    assert.deepEqual([noName.code, /"foo\.\.test" is not a domain name/.test(noName.err)], [2, true]);
  });

  test('a cluster that cannot be reached ends with 3, and says which server', async () => {
    const kubeconfig = join(folder, 'kubeconfig');
    const context = { name: 'x', context: { cluster: 'c' } };
    const cluster = { name: 'c', cluster: { server: 'https://127.0.0.1:9' } };
    writeFileSync(
      kubeconfig,
      JSON.stringify({ 'current-context': 'x', contexts: [context], clusters: [cluster] }),
    );
    const kubernetes = { clusterId: 'a', kubeconfig };
    const config = write({ zones: [{ name: 'example.test' }], kubernetes });
    for (const words of [['query', 'foo.example.test'], ['undelegate']]) {
      const { code, err } = await isthmus('dns', ...words, '--config', config);
      assert.match(err, /cannot be reached: GET https:\/\/127\.0\.0\.1:9/);
      assert.equal(code, 3);
    }
  });

  test('another configuration makes other pods, the same one does not', async () => {
    const podsOf = async (zone: string) => {
      const config = write({ zones: [{ name: zone }], kubernetes: { clusterId: 'a' } });
      const { out } = await isthmus('dns', 'manifests', '--config', config);
      const documents = [parseAllDocuments(out)].flat().map((document) => document.toJS() as Deployment);
      return documents.find(({ kind }) => kind === 'Deployment')!.spec.template;
    };
    assert.deepEqual(await podsOf('a.test'), await podsOf('a.test'));
    assert.notDeepEqual(await podsOf('a.test'), await podsOf('b.test'));
  });

  test('manifests say which files of this machine the pods would look for', async () => {
    const kubernetes = { clusterId: 'a', clusters: [{ id: 'b', kubeconfig: '/home/me/b.yaml' }] };
    const config = write({ zones: [{ name: 'example.test' }], kubernetes });
    const { code, out, err } = await isthmus('dns', 'manifests', '--config', config);
    assert.equal(code, 0);
    assert.match(out, /kind: Deployment/);
    assert.match(err, /names \/home\/me\/b\.yaml, which the pods do not have/);
  });
});

interface Manifest {
  kind: string;
  rules?: { resources: string[] }[];
  spec?: { template: { spec: { containers: { args: string[] }[] } } };
}

interface Deployment {
  kind: string;
  spec: { template: object };
}

const folder = mkdtempSync(join(tmpdir(), 'isthmus-program-'));
after(() => rmSync(folder, { recursive: true }));

function write(document: object): string {
  const file = join(folder, 'dns.yaml');
  writeFileSync(file, JSON.stringify(document));
  return file;
}
