/** The image of the stand-in for Redpanda (see stand-in.ts): Kafka's image with Node, and a `/usr/bin/rpk` that is the stand-in. */
import { join, resolve } from 'node:path';
import type { Image } from '../../../deploy/image/image.ts';
import { pinnedNode } from '../../../tools/install.mjs';
import { kafkaImage } from '../images/kafka.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
/** What the stand-in is made of, where it is in the tree. */
const PARTS = [
  'package.json',
  'node_modules/yaml',
  'src/kafka',
  'src/ops/errors.ts',
  'src/ops/varint.ts',
  'test/support/redpanda',
];
const HOME = '/opt/stand-in';

export const REDPANDA_IMAGE = 'registry.test/redpanda';

export async function redpandaImage(version: string): Promise<Image> {
  const kafka = await kafkaImage();
  const program = `${HOME}/test/support/redpanda/stand-in.ts`;
  return {
    ...kafka,
    name: `${REDPANDA_IMAGE}:${version}`,
    contents: [
      ...kafka.contents,
      { program: pinnedNode(), to: '/usr/local/bin/node' },
      ...PARTS.map((path) => ({ copy: join(ROOT, path), to: `${HOME}/${path}`, except: /\.test\.ts$/ })),
      { text: `#!/bin/sh\nexec /usr/local/bin/node ${program} "$@"\n`, to: '/usr/bin/rpk', mode: 0o755 },
    ],
    user: '101:101',
  };
}
