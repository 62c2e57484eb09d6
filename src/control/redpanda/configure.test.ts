import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { configureScript } from './configure.ts';
import type { PlaceNeed } from './configure.ts';
import { CONFIG_DIRECTORY, POD_DIRECTORY, SOURCE_DIRECTORY } from './names.ts';

suite('what gives a broker its files', () => {
  let root: string;
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'configure-'));
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  /** Runs the script with its folders elsewhere; `tell` is called once it waits. */
  async function run(need: PlaceNeed | undefined, hostIP: string, tell: (annotations: string) => void) {
    const folders = [SOURCE_DIRECTORY, POD_DIRECTORY, CONFIG_DIRECTORY];
    for (const folder of folders) mkdirSync(`${root}${folder}`, { recursive: true });
    rmSync(`${root}${POD_DIRECTORY}/annotations`, { force: true });
    writeFileSync(`${root}${SOURCE_DIRECTORY}/panda-1.yaml`, 'a: "@node-address@"\nb: x.@host-ip@.y\n');
    writeFileSync(`${root}${SOURCE_DIRECTORY}/bootstrap.yaml`, 'c: d\n');
    const script = configureScript(need).replaceAll('/etc/redpanda', `${root}/etc/redpanda`);
    const child = spawn('/bin/sh', ['-c', script], { env: { PATH: process.env['PATH'], POD_NAME: 'panda-1', HOST_IP: hostIP } }); // prettier-ignore
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += String(chunk);
      if (said.includes('Waiting for the annotation')) tell(`${root}${POD_DIRECTORY}/annotations`);
    });
    const [code] = (await once(child, 'close')) as [number];
    const files = ['redpanda.yaml', '.bootstrap.yaml'].map((file) => {
      try {
        return readFileSync(`${root}${CONFIG_DIRECTORY}/${file}`, 'utf8');
      } catch {
        return undefined;
      }
    });
    rmSync(`${root}${CONFIG_DIRECTORY}`, { recursive: true });
    return { code, said, files };
  }

  const never = () => assert.fail('it waits');
  const telling = (value: string) => (file: string) =>
    writeFileSync(file, `isthmus.dev/node-address="${value}"\n`);

  test('copies them where nothing is left open', async () => {
    const { code, files } = await run(undefined, '', never);
    assert.deepEqual([code, files], [0, ['a: "@node-address@"\nb: x.@host-ip@.y\n', 'c: d\n']]);
  });

  test('waits until it is told where it is', async () => {
    const { code, files } = await run('nodeAddress', '', telling('192.0.2.1'));
    assert.deepEqual([code, files], [0, ['a: "192.0.2.1"\nb: x.@host-ip@.y\n', 'c: d\n']]);
    assert.equal((await run('nodeAddress', '', telling('2001:db8::1'))).files[0]?.split('\n')[0], 'a: "2001:db8::1"'); // prettier-ignore
    const refused = await run('nodeAddress', '', telling('a/b'));
    assert.equal(refused.code, 78);
    assert.match(refused.said, /BadAnnotation/);
  });

  test('takes the address of the host, and refuses one that no name can have', async () => {
    assert.equal((await run('hostIP', '10.0.0.7', never)).files[0]?.split('\n')[1], 'b: x.10.0.0.7.y');
    const { code, said } = await run('hostIP', 'fd00::1', never);
    assert.equal(code, 78);
    assert.match(said, /BadHostIP/);
  });
});
