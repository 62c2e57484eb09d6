/**
 * The start script of broker pods with real Kafka, in a root file system laid out like that of the official image and read-only, as the
 * user `appuser` of that image, with busybox's shell: what is mounted is what the pod would have, and there is no cluster around it.
 */
import assert from 'node:assert/strict';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { REFUSED, START_SCRIPT } from '../../../src/control/brokers/start-script.ts';
import { run, waitFor } from '../../../src/store/embedded/process.ts';
import { kafkaImage } from '../../support/images/kafka.ts';
import { ensureImageRoot } from '../../support/images/root.ts';
import type { ImageRoot } from '../../support/images/root.ts';
import { FORMER_KAFKA_VERSION, KAFKA_VERSION } from '../../support/install/kafka.ts';
import { createAddresses } from '../../support/pods/addresses.ts';
import type { Container } from '../../support/pods/container.ts';
import { workspace } from '../../support/workspace.ts';
import { DATA, MORE_DATA, nodeAt } from './node.ts';
import type { Node } from './node.ts';

const RACK = 'isthmus.dev/node-zone';
const ADDRESS = 'isthmus.dev/node-address';

function accepts(address: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = createConnection({ host: address, port: 9092, timeout: 2000 });
  const end = (is: boolean) => () => {
    socket.destroy();
    resolve(is);
  };
  socket.on('connect', end(true)).on('error', end(false)).on('timeout', end(false));
  return promise;
}

describe('the start script in the layout of the official image', () => {
  const addresses = createAddresses();
  let root: ImageRoot;
  let address: string;
  let node: Node;

  before(async () => {
    root = await ensureImageRoot(await kafkaImage());
  });
  beforeEach(async () => {
    address = await addresses.take();
    node = await nodeAt(root, address);
  });
  after(() => addresses.release());

  const ended = (container: Container) => () =>
    container.exitCode === undefined
      ? undefined
      : `it has ended with ${container.exitCode}; see ${node.logFile}`;
  const untilItServes = (container: Container) =>
    waitFor('the broker', () => accepts(address), {
      timeoutMs: 300_000,
      everyMs: 200,
      abort: ended(container),
    });
  const untilTheEnd = (container: Container) =>
    waitFor('the end', async () => container.exitCode !== undefined, { timeoutMs: 120_000 });

  async function refusal(env: Record<string, string> = {}): Promise<string> {
    const container = await node.start(env);
    await untilTheEnd(container);
    assert.equal(container.exitCode, REFUSED, await node.log());
    const message = (await container.terminationMessage()).trim();
    assert.ok((await node.log()).includes(message), 'the log says the same');
    return message;
  }

  test('formats once, stops cleanly, comes back as it was, and takes a second volume only when told', async () => {
    await node.configure({ format: [DATA] });
    const first = await node.start();
    await untilItServes(first);
    const identity = await node.identity('data-0');
    assert.match(identity, new RegExp(`^cluster\\.id=${node.clusterId}$`, 'm'));
    assert.match(identity, /^node\.id=7$/m);
    await first.stop(120_000);
    assert.equal(first.exitCode, 143);
    assert.match(await node.log(), /controlled shutdown.*\n(.*\n)*.*shut down completed/i);

    await node.configure({ properties: { 'log.dirs': `${DATA},${MORE_DATA}` } });
    assert.match(await refusal(), new RegExp(`^DiskLost: ${MORE_DATA} has no data and may not be formatted`));
    assert.deepEqual(await readdir(node.volume('data-1')), [], 'nothing was written to it');

    await node.configure({ properties: { 'log.dirs': `${DATA},${MORE_DATA}` }, format: [MORE_DATA] });
    const second = await node.start();
    await untilItServes(second);
    assert.equal(await node.identity('data-0'), identity, 'what was formatted stays as it was');
    assert.match(await node.identity('data-1'), new RegExp(`^cluster\\.id=${node.clusterId}$`, 'm'));
    await second.kill();

    await node.configure({ properties: { 'log.dirs': `${DATA},${MORE_DATA}` } });
    const third = await node.start();
    await untilItServes(third);
    await third.kill();
    assert.equal(
      (await node.log()).match(/^Formatting \//gm)?.length,
      2,
      'formatted when it was permitted, and then no more',
    );
  });

  test('starts the version before, and the disk of that one', async () => {
    const former = await ensureImageRoot(await kafkaImage(FORMER_KAFKA_VERSION));
    await node.configure({ format: [DATA], release: '4.2' });
    const first = await node.start({}, former);
    await untilItServes(first);
    await first.stop(120_000);
    await node.configure({ release: '4.2' });
    const second = await node.start();
    await untilItServes(second);
    await second.kill();
    const versions = [...(await node.log()).matchAll(/Kafka version: (\S+)/g)].map(([, version]) => version);
    assert.deepEqual([...new Set(versions)], [FORMER_KAFKA_VERSION, KAFKA_VERSION]);
  });

  test('refuses an empty disk that may not be formatted, and says so in the status of the pod', async () => {
    await node.configure({});
    assert.match(
      await refusal(),
      new RegExp(
        `^DiskLost: ${DATA} has no data and may not be formatted; .*strimzi.io/delete-pod-and-pvc=true`,
      ),
    );
    assert.deepEqual(await readdir(node.volume('data-0')), []);
  });

  test('refuses the disk of another cluster or of another node', async () => {
    await node.configure({ format: [DATA] });
    const meta = join(node.volume('data-0'), 'kafka-log7/meta.properties');
    await mkdir(join(node.volume('data-0'), 'kafka-log7'));
    const belongsTo = (cluster: string, id: number) =>
      writeFile(meta, `version=1\ncluster.id=${cluster}\nnode.id=${id}\n`);
    await belongsTo('-another-cluster-id-00', 7);
    assert.match(
      await refusal(),
      /^WrongDisk: .* belongs to the Kafka cluster -another-cluster-id-00, not to /,
    );
    await belongsTo(node.clusterId, 8);
    assert.match(await refusal(), /^WrongDisk: .* belongs to node 8, not to node 7; /);
    await writeFile(meta, '');
    assert.match(await refusal(), /^WrongDisk: .*\(none\)/);
    assert.equal(await readFile(meta, 'utf8'), '');
  });

  test('waits for the annotations it needs, and puts rack and address into the configuration', async () => {
    await node.configure({
      properties: {
        'advertised.listeners': 'PLAIN-9092://@node-address@:9092,X://@node-address@:1',
        note: 'a\\b "c" $d `e` *',
      },
    });
    const env = { ISTHMUS_RACK_ANNOTATION: RACK, ISTHMUS_ADDRESS_ANNOTATION: ADDRESS };
    const container = await node.start(env);
    await waitFor('the rack to be waited for', async () =>
      (await node.log()).includes(`Waiting for the annotation ${RACK}`),
    );
    await node.annotate({ [`${RACK}-2`]: 'no', [RACK]: 'zone-a' });
    await waitFor('the address to be waited for', async () =>
      (await node.log()).includes(`Waiting for the annotation ${ADDRESS}`),
    );
    assert.equal(container.exitCode, undefined);
    await node.annotate({ [RACK]: 'zone-a', [ADDRESS]: 'fd00::7' });
    await untilTheEnd(container); // there is no disk
    const properties = await node.properties();
    assert.match(properties, /^broker\.rack=zone-a$/m);
    assert.match(properties, /^advertised\.listeners=PLAIN-9092:\/\/\[fd00::7\]:9092,X:\/\/\[fd00::7\]:1$/m);
    assert.ok(properties.includes('note=a\\\\b "c" $d `e` *\n'), 'the rest is as it was');
    assert.equal((await node.log()).match(/Waiting/g)?.length, 2, 'each is said once');
  });

  test('ends at once when it is told to while it waits', async () => {
    await node.configure({});
    const container = await node.start({ ISTHMUS_RACK_ANNOTATION: RACK });
    await waitFor('the rack to be waited for', async () => (await node.log()).includes('Waiting'));
    await container.stop(60_000);
    assert.equal(container.exitCode, 143);
  });

  test('takes no rack and no address that would say more than that', async () => {
    await node.configure({});
    for (const value of ['', 'a\nlog.dirs=/tmp', 'a b', 'a=b', 'ä', '$(id)', 'a\\']) {
      await node.annotate({ [RACK]: value, [ADDRESS]: value });
      assert.match(
        await refusal({ ISTHMUS_RACK_ANNOTATION: RACK }),
        /^BadAnnotation: /,
        JSON.stringify(value),
      );
      assert.match(
        await refusal({ ISTHMUS_ADDRESS_ANNOTATION: ADDRESS }),
        /^BadAnnotation: /,
        JSON.stringify(value),
      );
    }
    assert.equal(await node.properties(), '');
  });

  test('says when the storage cannot be formatted', async () => {
    await node.configure({ format: [DATA], properties: { 'controller.quorum.voters': '8@127.0.0.1:9090' } });
    assert.match(await refusal(), /^FormatFailed: /);
    await rm(join(node.volume('tmp'), 'server.properties'));
    await node.configure({ properties: { 'log.dirs': '' } });
    assert.match(await refusal(), /^BadConfiguration: /);
  });
});

test('the start script is understood by other shells, too', async () => {
  const file = join(workspace('script'), 'start.sh');
  await writeFile(file, START_SCRIPT);
  for (const shell of ['dash', 'bash'])
    assert.deepEqual(await run(shell, ['-n', file]), { code: 0, stdout: '', stderr: '' }, shell);
});
