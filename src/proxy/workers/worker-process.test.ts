/** Real worker processes, with filters of users' own that stop or end them. */
import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { environmentWith } from '../../../test/support/filter-modules.ts';
import { serviceKey } from '../config/own-filters.ts';
import type { ProxyConfig, VirtualClusterConfig } from '../config/model.ts';
import type { StallNote } from './stall-note.ts';
import { startWorker } from './worker-process.ts';

const FAULTS = {
  hang: 'while (true);',
  exit: 'process.exit(7);',
  throw: 'setTimeout(() => { throw new Error("nobody catches this"); }); return {};',
  reject: 'Promise.reject(new Error("nobody catches this")); return {};',
};
const moduleOf = (code: string) => `
  const safeParse = (data) => ({ success: true, data });
  export const filter = { config: { safeParse }, create() { ${code} } };`;
const urlOf = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
const MODULES = new Map([
  ...Object.entries(FAULTS).map(([name, code]) => [name, urlOf(moduleOf(code))] as const),
  ['hang-when-loaded', urlOf('while (true);')],
]);

function cluster(module: string): VirtualClusterConfig {
  const target = { bootstrapServers: [], selection: 'random' as const, tls: undefined };
  const filters = [{ name: 'faulty', type: `module:${module}`, config: {} }];
  return { name: 'bad', target, gateways: [], filters, drainTimeoutMs: 1000 };
}

/** Has a worker serve such a virtual cluster: what it notes first of a filter, and what has ended it, unless it had to be killed. */
async function noteOf(bad: VirtualClusterConfig): Promise<{ note: StallNote; ended: string }> {
  const noted = Promise.withResolvers<StallNote>();
  const ready = Promise.withResolvers<void>();
  const setup = { number: 1, logLevel: 'silent', ticketKeys: Buffer.alloc(48).toString('base64') };
  const worker = startWorker(setup, {
    onMessage: () => ready.resolve(),
    onStall: (note) => noted.resolve(note),
  });
  try {
    await ready.promise;
    const config = { virtualClusters: [bad], limits: {} } as unknown as ProxyConfig;
    void worker.request({ type: 'apply', config }, 60_000);
    const note = await noted.promise;
    if (bad.filters[0]?.type.startsWith('module:hang')) worker.kill();
    return { note, ended: await worker.ended };
  } finally {
    worker.kill();
  }
}

suite('a worker process', () => {
  const before = process.env['NODE_OPTIONS'];
  process.env['NODE_OPTIONS'] = environmentWith(MODULES)['NODE_OPTIONS'];
  after(() => {
    if (before === undefined) delete process.env['NODE_OPTIONS'];
    else process.env['NODE_OPTIONS'] = before;
  });

  for (const module of ['hang', 'hang-when-loaded'])
    test(`says whose filter keeps it from everything else: ${module}`, async () => {
      const bad = cluster(module);
      const { note } = await noteOf(bad);
      assert.deepEqual(note, { owner: { service: serviceKey(bad), filter: 'faulty' }, forMs: 0 });
    });

  for (const module of ['exit', 'throw', 'reject'])
    test(`says whose filter has ended it: ${module}`, async () => {
      const bad = cluster(module);
      const { note, ended } = await noteOf(bad);
      assert.deepEqual(note.owner, { service: serviceKey(bad), filter: 'faulty' });
      assert.equal(ended, module === 'exit' ? 'exit code 7' : 'exit code 1');
    });
});
