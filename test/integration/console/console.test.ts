/** The console as people meet it: `isthmus up` with a real Kafka, real clients, and a real browser. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { Page, Request } from 'playwright-core';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { buildPages } from '../../../tools/console-pages.ts';
import { startBrowser } from '../../support/browser.ts';
import type { TestBrowser, TestPage } from '../../support/browser.ts';
import { produce } from '../../support/clients.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { workspace } from '../../support/workspace.ts';
import { reserveBlock } from '../proxy/proxy-process.ts';
import type { PortBlock } from '../proxy/proxy-process.ts';
import { SECRET, writeConsoleFolder } from './folder.ts';

const root = resolve(import.meta.dirname, '../../..');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const VIEWS = [
  'fleet',
  'topology',
  'traffic',
  'keys',
  'object?kind=VirtualKafkaCluster&namespace=default&name=broken',
];

/** Where pictures of all views are put: those of the documentation are made so (`npm run pictures`). */
const PICTURES = process.env['ISTHMUS_PICTURES'];

/** What a test machine under load may take for what takes a second; the page would ask again for nothing in that time. */
const PUSHED_WITHIN_MS = 30_000;

/** What each view asks for, and how often it is sent something while somebody writes: names and keys do not change by that. */
const DOCUMENTS: Readonly<Record<string, { documents: string[]; pushes: number }>> = {
  fleet: { documents: ['fleet', 'series'], pushes: 6 },
  topology: { documents: ['topology'], pushes: 3 },
  traffic: { documents: ['traffic'], pushes: 3 },
  keys: { documents: ['keys'], pushes: 0 },
  'object?kind=VirtualKafkaCluster&namespace=default&name=orders': {
    documents: ['object', 'series'],
    pushes: 3,
  },
};

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

/** What a machine can find of what keeps people from using a page. */
async function seriousFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate<{ violations: Violation[] }>(
    "axe.run(document, { resultTypes: ['violations'] })",
  );
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

suite('the console of isthmus up', () => {
  let kafka: KafkaCluster;
  let block: PortBlock;
  let program: ChildProcess;
  let browser: TestBrowser;
  let desk: TestPage;
  let url: string;
  let said = '';

  const says = async (pattern: RegExp) =>
    (
      await waitFor(`${pattern} from isthmus up`, async () => pattern.exec(said) ?? undefined, {
        abort: () => (program.exitCode === null ? undefined : `it ended:\n${said}`),
      })
    )[1]!;
  const bootstrapOf = (cluster: string) => says(new RegExp(`^${cluster} +(\\S+:\\d+)\\s`, 'm'));
  const write = async (cluster: string, topic: string) =>
    produce('kafkajs', {
      bootstrap: await bootstrapOf(cluster),
      topic,
      records: [{ key: null, value: 'a value' }],
    });
  const open = async (path: string) => {
    await desk.page.goto(url + path);
    return desk.page;
  };

  before(async () => {
    await buildPages();
    const home = workspace('console');
    // Pictures show it.
    const folder = 'shop';
    [kafka, block, browser] = await Promise.all([startKafka(), reserveBlock(24), startBrowser()]);
    await writeConsoleFolder(join(home, folder), { first: block.first, named: block.first + 23 });
    const args = [
      'up',
      '-f',
      folder,
      '--kafka',
      kafka.bootstrap.plaintext,
      '--console-port',
      '0',
      '--dns-port',
      '0',
    ];
    program = spawn(process.execPath, [join(root, 'src/main.ts'), ...args], {
      cwd: home,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [program.stdout!, program.stderr!])
      stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    url = await says(/^The console: (\S+)$/m);
    desk = await browser.page();
  });
  after(async () => {
    program?.kill('SIGKILL');
    await browser?.[Symbol.asyncDispose]();
    await kafka?.stop();
    await block?.[Symbol.asyncDispose]();
  });

  test('fleet: what is wrong comes first, with what to do and where it is written', async () => {
    const page = await open('fleet');
    const problem = (reason: string) => page.locator('.problems li', { hasText: reason });
    await problem('TargetUnreachable').waitFor();
    assert.match(
      await problem('TargetUnreachable').innerText(),
      /VirtualKafkaCluster broken[^]*What to do:[^]*all\.yaml:\d+/,
    );
    assert.match(await problem('CertificateExpiring').innerText(), /VirtualKafkaCluster named[^]*ends-soon/);
    assert.match(await problem('NotSupported').innerText(), /orders[^]*names must differ/);
    await problem('TargetUnreachable').getByRole('link').click();
    await page.getByRole('heading', { name: 'broken' }).waitFor();
    assert.match(page.url(), /\/object\?kind=VirtualKafkaCluster&namespace=default&name=broken$/);
  });

  test('traffic: what is written in another terminal is pushed to the page, and filters are in the address', async () => {
    const page = await open('traffic?q=through-orders');
    await page.getByText('Nothing has come by').waitFor();
    await page.locator('.connection.live').waitFor();
    const asked: string[] = [];
    const note = (request: Request) => asked.push(request.url());
    page.on('request', note);
    const another = { bootstrap: await bootstrapOf('orders'), topic: 'through-orders' };
    await produce('kcat', { ...another, records: [{ key: null, value: 'a value' }] });
    const row = page.locator('tbody tr', { hasText: 'Produce v' }).first();
    await row.waitFor({ timeout: PUSHED_WITHIN_MS });
    page.off('request', note);
    assert.deepEqual(asked, [], 'neither a reload nor a second request brings it');
    const text = await row.innerText();
    for (const word of ['127.0.0.1', 'orders', 'through-orders', 'Forwarded', 'ms'])
      assert.ok(text.includes(word), `${word} in ${text}`);
    assert.ok(!(await page.content()).includes('a value'));
    await page.getByLabel('Verdict').selectOption('closed');
    assert.match(page.url(), /q=through-orders&verdict=closed$/);
    await page.getByText('Nothing has come by that fits').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('p');
    await page.getByRole('button', { name: 'Go on' }).waitFor();
  });

  test('one request for each document of a view, however often that changes', async () => {
    await using watching = await browser.page();
    const { page } = watching;
    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith('/api/')) asked.push(pathname.slice('/api/'.length));
    });
    let pushed = 0;
    const protocol = await page.context().newCDPSession(page);
    protocol.on('Network.eventSourceMessageReceived', () => (pushed += 1));
    await protocol.send('Network.enable');
    for (const [view, { documents, pushes }] of Object.entries(DOCUMENTS)) {
      asked.length = 0;
      await page.goto(url + view);
      await page.locator('.connection.live').waitFor();
      const before = pushed;
      await waitFor(`what ${view} is sent`, async () => {
        await write('orders', 'counted');
        return pushed - before >= pushes || undefined;
      });
      assert.deepEqual(asked.toSorted(), documents, view);
    }
  });

  test('topology: the way from a client to the broker, with what flows', async () => {
    const page = await open('topology?q=sealed');
    const link = (name: RegExp) => page.getByRole('link', { name });
    await link(/VirtualKafkaCluster sealed/).waitFor();
    await link(/KafkaProtocolFilter encryption/).waitFor();
    await link(/KafkaProxy edge/).waitFor();
    await link(/KafkaClusterRef broker/).waitFor();
    const busy = page.locator('.edge.busy');
    const writing = (async () => {
      while ((await busy.count()) === 0) await write('sealed', 'through-sealed');
    })();
    await busy.first().waitFor({ state: 'attached' });
    await writing;
  });

  test('object: conditions with their times, the tree, and YAML without secrets', async () => {
    const page = await open('object?kind=VirtualKafkaCluster&namespace=default&name=broken');
    const ready = page.locator('tr', { hasText: 'TargetUnreachable' }).first();
    await ready.waitFor();
    assert.match(await ready.innerText(), /Ready\s+False\s+TargetUnreachable\s+\d+\s(s|min|h)/);
    await page.getByRole('link', { name: 'KafkaClusterRef nowhere' }).waitFor();
    await page.goto(`${url}object?kind=KafkaProtocolFilter&namespace=default&name=encryption`);
    await page.getByText('selectorConfig', { exact: false }).first().waitFor();
    const filter = await page.content();
    assert.ok(filter.includes('(not shown)') && !filter.includes(SECRET));
    const secret = await fetch(`${url}api/object?kind=Secret&namespace=default&name=tls`);
    assert.equal(secret.status, 200);
    const shown = await secret.text();
    assert.match(shown, /tls\.key: \(not shown\)/);
    assert.doesNotMatch(shown, /PRIVATE KEY|BEGIN CERTIFICATE|LS0tLS1/);
  });

  test('keys, certificates, names: what ends soon, keys in use, and what would be answered', async () => {
    const page = await open('keys?name=named.kafka.test');
    await page.locator('tr', { hasText: 'ends-soon' }).first().waitFor();
    await page.locator('tr', { hasText: 'orders-key' }).first().waitFor();
    const answer = page.getByRole('region', { name: 'Answer' });
    await answer.waitFor();
    assert.match(
      await answer.innerText(),
      /named\.kafka\.test\.[^]*127\.0\.0\.1[^]*VirtualKafkaCluster default\/named/,
    );
    await page.getByLabel('What would you answer for').fill('nobody.kafka.test');
    await page.getByText('NXDOMAIN').waitFor();
    assert.match(page.url(), /name=nobody\.kafka\.test/);
  });

  test('the time series of a virtual cluster shows what it carried', async () => {
    const series = async () =>
      (await (await fetch(`${url}api/series?cluster=orders`)).json()) as { requests: (number | null)[] };
    const watching = await browser.page();
    await watching.page.goto(`${url}object?kind=VirtualKafkaCluster&namespace=default&name=orders`);
    await watching.page.locator('canvas').first().waitFor();
    const writing = await waitFor('requests in the series', async () => {
      await write('orders', 'through-orders');
      return (await series()).requests.some((value) => (value ?? 0) > 0) || undefined;
    });
    assert.ok(writing);
    await watching[Symbol.asyncDispose]();
  });

  test('all of it by the keyboard', async () => {
    const page = await open('fleet');
    const goes = async (key: string, heading: string) => {
      await page.keyboard.press(key);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    };
    await page.getByRole('heading', { level: 1, name: 'Fleet' }).waitFor();
    await goes('t', 'Topology');
    await goes('r', 'Traffic');
    await goes('k', 'Keys, certificates, names');
    await goes('f', 'Fleet');
    await page.keyboard.press('/');
    await page.keyboard.type('broken');
    assert.match(page.url(), /\?q=broken$/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
  });

  for (const [look, options] of Object.entries({
    'light, wide': { height: 640 },
    'dark, wide': { dark: true },
    'light, 360 px': { width: 360, height: 740 },
  }))
    test(`every view is usable and has no serious fault: ${look}`, async () => {
      const { page, complaints, ...closing } = await browser.page(options);
      const faults: string[] = [];
      for (const view of VIEWS) {
        await page.goto(url + view);
        await page.locator('.connection.live').waitFor();
        await page.getByText('Asking the server').waitFor({ state: 'detached' });
        for (const fault of await seriousFaults(page)) faults.push(`${view}: ${fault}`);
        // Of traffic there is none at that moment.
        if (PICTURES !== undefined && look === 'light, wide' && view !== 'traffic')
          await page.screenshot({ path: join(PICTURES, `${view.split('?')[0]}.png`) });
        const overflow = await page.evaluate<number>(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        if (overflow > 0) faults.push(`${view} is ${overflow} px too wide`);
      }
      assert.deepEqual(faults, []);
      assert.deepEqual(complaints, []);
      await closing[Symbol.asyncDispose]();
    });

  test('isthmus tap prints the same', async () => {
    const args = [join(root, 'src/main.ts'), 'tap', 'tapped-topic', '--console', url, '-o', 'json'];
    const tap = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    tap.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    try {
      const line = await waitFor('a line of isthmus tap', async () => {
        await write('orders', 'tapped-topic');
        return printed.split('\n').find((one) => one.includes('"api":"Produce"'));
      });
      const entry = JSON.parse(line) as { topic: string; verdict: string; virtualCluster: string };
      assert.deepEqual(
        [entry.topic, entry.verdict, entry.virtualCluster],
        ['tapped-topic', 'forwarded', 'orders'],
      );
    } finally {
      tap.kill('SIGKILL');
    }
  });

  test('a page that is left complains of nothing', () => assert.deepEqual(desk.complaints, []));
});
