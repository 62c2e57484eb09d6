/** Kafka's own Java classes, asked questions over a pipe. See Harness.java for the questions. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createLineSplitter } from '../../../../src/kube/http/lines.ts';
import { ensureKafka } from '../../../support/install/kafka.ts';

export interface Harness {
  /** The words of the answer. Questions may be asked without waiting; rejects with what Java threw. */
  ask(...words: (string | number)[]): Promise<string[]>;
  stop(): Promise<void>;
}

interface Waiting {
  resolve: (words: string[]) => void;
  reject: (error: Error) => void;
}

/** Starts one Java process for all questions: a process a question would take seconds each. */
export async function startHarness(): Promise<Harness> {
  const options = [
    '-Xmx512m',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-cp',
    (await ensureKafka()).classPath,
  ];
  const child = spawn('java', [...options, join(import.meta.dirname, 'Harness.java')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const waiting: Waiting[] = [];
  // Not node:readline, for which some characters of texts end a line, too (U+2028).
  const linesOf = createLineSplitter(1 << 28);
  child.stdout.on('data', (chunk: Buffer) => {
    for (const line of linesOf(chunk)) {
      const [outcome, ...words] = line.split('\t');
      const next = waiting.shift();
      if (outcome === 'ok') next?.resolve(words);
      else next?.reject(new Error(words.join(' ')));
    }
  });
  const stopWaiting = () => {
    for (const { reject } of waiting.splice(0)) reject(new Error('the Java process has ended'));
  };
  void exited.then(stopWaiting);
  child.stdin.on('error', stopWaiting);
  return {
    ask: (...words) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        child.stdin.write(`${words.join('\t')}\n`);
      }),
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}
