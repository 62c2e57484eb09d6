/** The images that pods of the runner may name, as root file systems. */
import type { Image } from '../../../deploy/image/image.ts';
import { KAFKA_IMAGE, kafkaImage } from '../images/kafka.ts';
import { ensureImageRoot } from '../images/root.ts';
import type { ImageRoot } from '../images/root.ts';
import { SMALL_IMAGES } from '../images/small.ts';
import { KAFKA_VERSION } from '../install/kafka.ts';
import { ensureQuickStart } from './quick-start.ts';
import type { QuickStart } from './quick-start.ts';

export interface ImageChoice {
  /** Versions of Kafka that pods may name in their image. */
  kafkaVersions?: readonly string[];
  /** Further images, beside those of Kafka and busybox. */
  images?: readonly Image[];
}

/** A root file system, and how the Kafka in it starts quickly. */
export interface PodImage extends ImageRoot {
  quickStart?: QuickStart | undefined;
}

/** The root file systems by what a pod's `image` may say, with and without the registry that is meant where none is named. */
export async function ensurePodImages({
  kafkaVersions = [KAFKA_VERSION],
  images = [],
}: ImageChoice = {}): Promise<ReadonlyMap<string, PodImage>> {
  const ours = [SMALL_IMAGES.busybox(), ...kafkaVersions.map((version) => kafkaImage(version))];
  const roots = new Map<string, PodImage>();
  for (const image of [...(await Promise.all(ours)), ...images]) {
    const unpacked = await ensureImageRoot(image);
    // Others are started too seldom to be worth it.
    const isUsual = image.name === KAFKA_IMAGE;
    const root = { ...unpacked, quickStart: isUsual ? await ensureQuickStart(unpacked) : undefined };
    roots.set(image.name, root);
    roots.set(image.name.replace(/^docker\.io\//, ''), root);
  }
  return roots;
}
