import { existsSync, readFileSync } from 'node:fs';
import { NOTHING_ALLOCATED } from '../control/proxy/ports/ports.ts';
import { filterConfig } from '../control/proxy/resolve/resolve.ts';
import type { Code } from '../ops/codes/codes.ts';
import { IsthmusError, messageOf } from '../ops/errors.ts';
import { moduleOf } from '../ops/filter-module.ts';
import { checkFilter } from '../proxy/filters/registry.ts';
import { emptyContents, readText } from './folder.ts';
import type { Problem } from './folder.ts';
import { planLocally } from './local-plan.ts';
import type { LocalPlan } from './local-plan.ts';
import { readResources, resourcesOf } from './resources.ts';
import type { FolderResources } from './resources.ts';

export interface Analysis {
  problems: (Problem & { code: Code })[];
  counts: FolderResources['counts'];
}

/** Everything wrong in a folder, a file, or with `-` on standard input: files, fields, references. */
export async function analyzeFolder(folder: string): Promise<Analysis> {
  const resources = folder === '-' ? readStandardInput() : readResources(existing(folder));
  // Whether a way in can be had on this machine says nothing about the cluster that the resources are meant for.
  const plan = planLocally(resources.snapshot, 0, { allocation: NOTHING_ALLOCATED });
  const faults = plan.faults.filter(({ reason }) => reason !== 'NotSupported');
  const problems = [
    ...resources.problems,
    ...locateFaults(faults, resources),
    ...(await filterProblems(resources)),
  ];
  return {
    problems: problems.map((problem) => ({ ...problem, code: problem.code ?? 'RESOURCE_INVALID' })),
    counts: resources.counts,
  };
}

/** What the filters themselves say to their configurations. A module of the user's is where the proxy runs, not here. */
async function filterProblems(resources: FolderResources): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const filter of resources.snapshot.filters) {
    const { name, namespace } = filter.metadata;
    const { type } = filter.spec;
    const { value, faults } = filterConfig(filter, [], resources.snapshot);
    if (moduleOf(type) !== undefined || faults.length > 0) continue;
    try {
      await checkFilter({ type, config: value }, 'spec.config');
    } catch (error) {
      const document = resources.documentOf('KafkaProtocolFilter', name, namespace);
      const line = document?.lineOf(['spec', error instanceof IsthmusError ? 'config' : 'type']) ?? 1;
      const message = `KafkaProtocolFilter "${name}": ${messageOf(error).replaceAll(/\s*\n\s*/g, '; ')}`;
      problems.push({ file: document?.file ?? '', line, message });
    }
  }
  return problems;
}

function existing(folder: string): string {
  if (!existsSync(folder)) throw new IsthmusError('USAGE', `there is no folder or file ${folder}`);
  return folder;
}

function readStandardInput(): FolderResources {
  const contents = emptyContents();
  readText('standard input', readFileSync(0, 'utf8'), contents);
  return resourcesOf(contents);
}

/** The faults of a plan, each with the file and line that leads to it. */
export function locateFaults(faults: LocalPlan['faults'], resources: FolderResources): Problem[] {
  return faults.map(({ kind, name, namespace, path, reason, message }) => {
    const document = resources.documentOf(kind, name, namespace);
    const text = `${kind} "${name}": ${message}`;
    return { file: document?.file ?? '', line: document?.lineOf(path) ?? 1, message: text, code: reason };
  });
}
