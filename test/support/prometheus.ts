/** A real Prometheus that collects the reports it is given, and answers questions about them. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startServer, waitFor } from '../../src/store/embedded/process.ts';
import { reservePorts } from '../../src/store/embedded/ports.ts';
import { ensurePrometheus } from './install/prometheus.ts';
import { workspace } from './workspace.ts';

export interface Prometheus extends AsyncDisposable {
  /** How many series an expression gives now; throws where it is none. */
  seriesOf(expr: string): Promise<number>;
}

/** Collects each report every second, by the name of its job. */
export async function startPrometheus(reports: Record<string, () => Promise<string>>): Promise<Prometheus> {
  const { prometheus } = await ensurePrometheus();
  await using starting = new AsyncDisposableStack();
  const server = createServer((request, response) => {
    const report = reports[request.url?.slice(1) ?? ''];
    void (report?.() ?? Promise.resolve('')).then((text) => response.end(text));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  starting.defer(() => void server.close());
  const { port: reportPort } = server.address() as AddressInfo;
  const directory = workspace('prometheus');
  const jobs = Object.keys(reports).map((job) => ({
    job_name: job,
    metrics_path: `/${job}`,
    static_configs: [{ targets: [`127.0.0.1:${reportPort}`] }],
  }));
  await writeFile(
    join(directory, 'prometheus.yml'),
    JSON.stringify({ global: { scrape_interval: '1s' }, scrape_configs: jobs }),
  );
  const ports = starting.use(await reservePorts(1));
  const url = `http://127.0.0.1:${ports.numbers[0]}`;
  const args = [
    `--config.file=${join(directory, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
    `--web.listen-address=127.0.0.1:${ports.numbers[0]}`,
  ];
  const child = startServer('prometheus', prometheus, args, { logFile: join(directory, 'log.txt') });
  starting.defer(() => child.stop());
  await waitFor('Prometheus', async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok, {
    abort: () => (child.running ? undefined : `it ended; see ${child.logFile}`),
  });
  const started = starting.move();
  return {
    async seriesOf(expr) {
      const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expr)}`);
      const answer = (await response.json()) as { error?: string; data?: { result: unknown[] } };
      if (!answer.data) throw new Error(`${expr}: ${answer.error}`);
      return answer.data.result.length;
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
