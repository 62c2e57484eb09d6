import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { suite, test } from 'node:test';
import { pino } from 'pino';
import { createMetrics } from '../../ops/metrics.ts';
import type { ConnectionContext, Filter, FilterSetting, MessageContext } from '../filter.ts';
import { createOwned, runningOwner } from './filter-owner.ts';

const OWNER = { service: 'a 1', filter: 'guard' };
const OTHER = { service: 'b 1', filter: 'guard' };
const CONNECTION = {} as ConnectionContext;
const MESSAGE = { api: 'Metadata' } as MessageContext;

let told: (message: unknown) => void;
const metrics = createMetrics();
const setting: FilterSetting = {
  virtualCluster: 'a',
  name: 'guard',
  log: pino({ level: 'silent' }),
  metrics,
  outbound: {} as FilterSetting['outbound'],
  peers: { tell() {}, hear: (handler) => void (told = handler) },
};

/** A filter that notes, wherever its code runs, whose it is. */
function noting(seen: [string, string | undefined][]): (given: FilterSetting) => Promise<Filter> {
  const note = (where: string): undefined => void seen.push([where, runningOwner()?.service]);
  return async (given) => {
    note('create');
    await turn();
    note('create, later');
    given.peers.hear(() => note('hear'));
    given.metrics.beforeReport(() => note('report'));
    return {
      connect() {
        note('connect');
        return {
          newestVersions: { Metadata: 9 },
          isStranger() {
            note('isStranger');
            return true;
          },
          onBegin: async () => note('begin'),
          onRequest: {
            async Metadata() {
              note('request');
              await turn();
              note('request, later');
              setImmediate(() => note('timer'));
              return { close: 'enough' };
            },
          },
          onResponse: { Metadata: () => note('response') },
          onClose: () => note('onClose'),
        };
      },
      problem: () => note('problem'),
      close: () => note('close'),
    };
  };
}

suite('the owner of a filter', () => {
  test('is known wherever its code runs, and nowhere else', async () => {
    const seen: [string, string | undefined][] = [];
    const filter = await createOwned(OWNER, setting, noting(seen));
    const connection = filter.connect(CONNECTION);
    assert.equal(connection.isStranger?.(), true);
    await connection.onBegin?.();
    const verdict = await connection.onRequest?.Metadata?.({} as never, MESSAGE);
    assert.deepEqual(verdict, { close: 'enough' });
    assert.equal(runningOwner(), undefined);
    await connection.onResponse?.Metadata?.({} as never, MESSAGE);
    connection.onClose?.();
    told({});
    await metrics.snapshot();
    filter.problem?.();
    await filter.close?.();
    await turn();
    assert.deepEqual(seen.map(([where]) => where).toSorted(), [
      'begin',
      'close',
      'connect',
      'create',
      'create, later',
      'hear',
      'isStranger',
      'onClose',
      'problem',
      'report',
      'request',
      'request, later',
      'response',
      'timer',
    ]);
    assert.deepEqual(new Set(seen.map(([, owner]) => owner)), new Set(['a 1']));
    assert.deepEqual(connection.newestVersions, { Metadata: 9 });
    assert.equal('onlyKnownApis' in connection, false);
  });

  test('stays apart from that of another, however their handlers take turns', async () => {
    const mine: [string, string | undefined][] = [];
    const yours: typeof mine = [];
    const filters = await Promise.all([
      createOwned(OWNER, setting, noting(mine)),
      createOwned(OTHER, setting, noting(yours)),
    ]);
    const connections = filters.map((filter) => filter.connect(CONNECTION));
    await Promise.all(connections.map(async ({ onRequest }) => onRequest?.Metadata?.({} as never, MESSAGE)));
    await turn();
    assert.deepEqual(new Set(mine.map(([, owner]) => owner)), new Set(['a 1']));
    assert.deepEqual(new Set(yours.map(([, owner]) => owner)), new Set(['b 1']));
  });

  test('a handler may use the object that it is in', async () => {
    const filter = await createOwned(OWNER, setting, async () => ({
      connect: () => ({
        onRequest: {
          why: 'because',
          Metadata() {
            return { close: (this as unknown as { why: string }).why };
          },
        },
      }),
    }));
    const { onRequest } = filter.connect(CONNECTION);
    assert.deepEqual(onRequest?.Metadata?.({} as never, MESSAGE), { close: 'because' });
  });
});
