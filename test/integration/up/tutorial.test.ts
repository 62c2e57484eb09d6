/** docs/tutorial.md, followed by somebody who pastes every command and compares what it says with the page. Ports are this run's own. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { after, before, suite, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import { ensureKcat } from '../../support/install/kcat.ts';
import { openTerminal, patternOf, stepsOf } from '../../support/pages.ts';
import type { Step, Terminal } from '../../support/pages.ts';
import { workspace } from '../../support/workspace.ts';
import { adminOf, runOperator, waitForCondition } from '../control/harness.ts';
import { reserveBlock } from '../proxy/proxy-process.ts';
import type { PortBlock } from '../proxy/proxy-process.ts';

const PAGE = 'docs/tutorial.md';

suite('the tutorial', () => {
  const folder = workspace('tutorial');
  let block: PortBlock;
  let up: ChildProcess | undefined;
  let said = '';

  /** As the page has it, but for its ports. */
  const own = (text: string, kafka = '127.0.0.1:9092') =>
    text
      .replaceAll('9082', String(block.first))
      .replaceAll('9080', String(block.first + 20))
      .replaceAll('127.0.0.1:9092', kafka);

  async function follow({ commands, says }: Step, terminal: Terminal, kafka?: string): Promise<void> {
    const { stdout, stderr } = await terminal.paste(own(commands, kafka));
    const output = stdout + stderr;
    for (const line of says) assert.match(output, patternOf(own(line)), `${commands}\nsaid:\n${output}`);
  }

  before(async () => (block = await reserveBlock(24)));
  after(async () => {
    up?.kill('SIGKILL');
    await block?.[Symbol.asyncDispose]();
  });

  test('on this machine: every command does what the page says', async () => {
    const { program, env } = await ensureKcat();
    const libraries = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
    const terminal = openTerminal(folder, { kcat: `exec env ${libraries.join(' ')} '${program}' "$@"` });
    const [first, ...rest] = stepsOf(PAGE, 'On this machine');
    assert.match(first!.commands, /^isthmus up /);
    up = spawn('bash', ['-c', `exec ${own(first!.commands)}`], {
      cwd: folder,
      env: terminal.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [up.stdout!, up.stderr!])
      stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const abort = () => (up!.exitCode === null ? undefined : `it ended:\n${said}`);
    for (const line of first!.says)
      await waitFor(line, async () => patternOf(own(line)).test(said) || undefined, { abort });
    const kafka = /Apache Kafka itself listens on (\S+)/.exec(said)![1]!;
    assert.ok(rest.length >= 4);
    for (const step of rest) {
      await follow(step, terminal, kafka);
      if (step.commands.startsWith('cat >'))
        await waitFor('the second one', async () => /^plain +\S+:\d+/m.test(said) || undefined, { abort });
      if (step.commands.startsWith('sed -i'))
        await waitFor('what was good', async () => /^plain .* last good$/m.test(said) || undefined, {
          abort,
        });
    }
    const ended = new Promise((done) => up!.once('exit', done));
    up.kill('SIGINT');
    await ended;
  });

  test('to a cluster: every command is taken by a real API server, and an operator accepts what was applied', async () => {
    await using plane = await startControlPlane();
    const kubectl = `exec '${plane.kubectlProgram}' "$@"`;
    const terminal = openTerminal(folder, { kubectl }, { KUBECONFIG: plane.kubeconfig });
    const client = adminOf(plane);
    const [install, ...rest] = stepsOf(PAGE, 'To a cluster');
    await follow(install!, terminal);
    const operator = await runOperator(plane, { watchNamespaces: ['shop'] });
    try {
      for (const step of rest) await follow(step, terminal);
      await waitForCondition(client, ['VirtualKafkaCluster', 'encrypted'], ['Accepted', 'True'], 'shop');
    } finally {
      await operator.stop();
      await client.close();
    }
  });
});
