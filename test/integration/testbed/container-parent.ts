/** Starts a container that does nothing for long, says by which argument it can be told from others, and waits to be killed: `container-parent.ts FOLDER`. */
import { join } from 'node:path';
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ensureImageRoot } from '../../support/images/root.ts';
import { SMALL_IMAGES } from '../../support/images/small.ts';
import { startContainer } from '../../support/pods/container.ts';

const mark = `600.${randomInt(1_000_000, 9_999_999)}`;
const folder = process.argv[2] ?? '';
const container = await startContainer({
  name: 'idle',
  hostname: 'idle',
  root: await ensureImageRoot(await SMALL_IMAGES.busybox()),
  folder,
  mounts: [],
  command: ['sleep', mark],
  env: { PATH: '/bin' },
  uid: 1000,
  gid: 1000,
  groups: [],
  logFile: join(folder, 'log'),
});
process.stdout.write(`${mark}\n`);
while (container.exitCode === undefined) await delay(100);
