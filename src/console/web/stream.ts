/** One stream a view: the server sends its document again whenever it has changed. */
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { refreshSession } from './session.ts';

/** Whether what is shown is what is; of all streams of the page. */
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting');

/** A browser gives up on a server that refuses; we ask again. */
const AGAIN_MS = 5000;

/**
 * Browsers have six connections to one server for all pages together: one that nobody looks at gives its own back, or the seventh
 * would never load.
 */
export function listenTo<T>(path: string, onData: (data: T) => void): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const open = () => {
    const opened = new EventSource(path);
    source = opened;
    opened.addEventListener('open', () => (connection.value = 'live'));
    opened.addEventListener('error', () => {
      connection.value = 'lost';
      if (opened.readyState !== EventSource.CLOSED) return;
      timer = setTimeout(open, AGAIN_MS);
      // Refused: perhaps whoever looks has to log in again.
      void refreshSession();
    });
    opened.addEventListener('message', ({ data }: MessageEvent<string>) => onData(JSON.parse(data) as T));
  };
  const follow = () => {
    if (document.hidden) close();
    else if (!source) open();
  };
  document.addEventListener('visibilitychange', follow);
  follow();
  return () => {
    document.removeEventListener('visibilitychange', follow);
    close();
  };
}

/** The document at a path as it is now: undefined until it has come, null where there is none. */
export function useDocument<T>(path: string): T | null | undefined {
  const [known, setKnown] = useState<{ path: string; data: T | null }>();
  useEffect(() => listenTo<T | null>(path, (data) => setKnown({ path, data })), [path]);
  // While another one is on its way what was there stays, so that nothing flickers; of another view it is of no use.
  return known && known.path.split('?')[0] === path.split('?')[0] ? known.data : undefined;
}

export const apiPath = (view: string, params: Readonly<Record<string, string | undefined>> = {}) => {
  const kept = Object.entries(params).filter((pair): pair is [string, string] => !!pair[1]);
  const query = new URLSearchParams(kept).toString();
  return `/api/${view}${query === '' ? '' : `?${query}`}`;
};
