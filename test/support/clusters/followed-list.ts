/**
 * A list of the API server that is read once, and kept by a watch: whoever looks at it five times a second would otherwise keep the server,
 * and the machine that all tests share, busy with nothing else.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Api } from './api.ts';

export interface Followed<T> {
  /** What there is now. Undefined if nobody answers, which must not be taken for an empty list. */
  items(): Promise<T[] | undefined>;
  stop(): void;
}

interface Listed {
  metadata: { uid: string; resourceVersion: string };
}

interface Event {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'ERROR';
  object: Listed;
}

interface List {
  metadata: { resourceVersion: string };
  items: Listed[];
}

export function followList<T>(
  ask: Api['ask'],
  open: (path: string) => ClientRequest,
  path: string,
): Followed<T> {
  /** Undefined as long as it has to be read. */
  let known: Map<string, Listed> | undefined;
  let watch: ClientRequest | undefined;

  function forget(ended: ClientRequest): void {
    ended.destroy();
    if (watch === ended) known = undefined;
  }

  function take(ended: ClientRequest, line: string): void {
    if (watch !== ended || line === '') return;
    const { type, object } = JSON.parse(line) as Event;
    if (type === 'ERROR') forget(ended);
    else if (type === 'DELETED') known?.delete(object.metadata.uid);
    else known?.set(object.metadata.uid, object);
  }

  function follow(resourceVersion: string): void {
    const begun = open(`${path}?watch=true&resourceVersion=${resourceVersion}`);
    watch = begun;
    begun.on('response', (response: IncomingMessage) => {
      if (response.statusCode !== 200) return forget(begun);
      response.on('error', () => forget(begun)).on('close', () => forget(begun));
      let rest = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        const lines = `${rest}${text}`.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) take(begun, line);
      });
    });
    begun.on('error', () => forget(begun)).on('close', () => forget(begun));
    begun.end();
  }

  return {
    async items() {
      if (!known) {
        const answer = await ask('GET', path);
        if (answer?.status !== 200) return undefined;
        const { metadata, items } = JSON.parse(answer.text) as List;
        known = new Map(items.map((item) => [item.metadata.uid, item]));
        watch?.destroy();
        follow(metadata.resourceVersion);
      }
      return [...known.values()] as T[];
    },
    stop() {
      watch?.destroy();
      watch = undefined;
    },
  };
}
