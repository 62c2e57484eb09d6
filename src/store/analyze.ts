import { existsSync } from 'node:fs';
import { NOTHING_ALLOCATED } from '../control/proxy/ports.ts';
import { IsthmusError } from '../ops/errors.ts';
import type { Problem } from './folder.ts';
import { planLocally } from './local-plan.ts';
import type { LocalPlan } from './local-plan.ts';
import { readResources } from './resources.ts';
import type { FolderResources } from './resources.ts';

/** Everything wrong in a folder: files, fields, references. */
export function analyzeFolder(folder: string): Problem[] {
  if (!existsSync(folder)) throw new IsthmusError('USAGE', `there is no folder ${folder}`);
  const resources = readResources(folder);
  // Whether a way in can be had on this machine says nothing about the cluster that the resources are meant for.
  const plan = planLocally(resources.world, NOTHING_ALLOCATED, 0);
  const faults = plan.faults.filter(({ reason }) => reason !== 'NotSupported');
  return [...resources.problems, ...locateFaults(faults, resources)];
}

/** The faults of a plan, each with the file and line that leads to it. */
export function locateFaults(faults: LocalPlan['faults'], resources: FolderResources): Problem[] {
  return faults.map(({ virtualCluster, path, message }) => {
    const document = resources.documentOf('VirtualKafkaCluster', virtualCluster);
    const text = `VirtualKafkaCluster "${virtualCluster}": ${message}`;
    return { file: document?.file ?? '', line: document?.lineOf(path) ?? 1, message: text };
  });
}
