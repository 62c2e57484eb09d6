/** Isthmus as it is in the tree, for pods of the runner: nothing is built for it. */
import type { Image } from '../../../deploy/image/image.ts';
import { isthmusImage } from '../../../deploy/image/contents.ts';

export async function sourceImage(): Promise<Image> {
  const source = new URL('../../../src', import.meta.url).pathname;
  const image = await isthmusImage('registry.test/isthmus:source', source);
  // Kubelets write it.
  const hosts = { text: '127.0.0.1 localhost\n', to: '/etc/hosts' };
  const contents = [...image.contents, hosts];
  return { ...image, contents, entrypoint: ['/usr/local/bin/node', '/app/dist/main.ts'] };
}
