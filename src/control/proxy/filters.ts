/** Says of each KafkaProtocolFilter whether it can be used, whoever uses it. */
import { SUCCESS } from '../../kube/controller/controller.ts';
import type { Outcome } from '../../kube/controller/controller.ts';
import { keyOf } from '../../kube/object.ts';
import { kafkaProtocolFilter } from '../../resources/kroxylicious/kafka-protocol-filter.ts';
import type { CacheName } from './caches.ts';
import type { Checker } from './checks.ts';
import type { Fault } from './faults.ts';
import { readTexts } from './observe.ts';
import { read } from './read.ts';
import { filterConfig, missingText } from './resolve.ts';
import { refOf, refsOf } from './sources.ts';
import type { Sources } from './sources.ts';
import { conditionsOf } from './status.ts';
import { mergeStatus } from './write-status.ts';
import type { WriteStatus } from './write-status.ts';
import type { AnyObject } from '../../kube/object.ts';

export interface FilterReconcilerOptions {
  sources: Sources;
  checker: Checker;
  writeStatus: WriteStatus;
}

export function createFilterReconciler({ sources, checker, writeStatus }: FilterReconcilerOptions) {
  return async (key: string, signal: AbortSignal): Promise<Outcome> => {
    const live = sources.filters.get(key);
    if (!live) return SUCCESS;
    const faults = await faultsOf(live, sources, checker);
    const { generation } = live.metadata;
    const conditions = conditionsOf(faults, ['Accepted', 'ResolvedRefs'], generation);
    const status = { ...(generation !== undefined && { observedGeneration: generation }), conditions };
    const statusOf = (existing: object | undefined) => mergeStatus(existing, status, new Date());
    await writeStatus(live, statusOf, signal);
    return SUCCESS;
  };
}

async function faultsOf(live: AnyObject, sources: Sources, checker: Checker): Promise<Fault[]> {
  const { resource, problem } = read(kafkaProtocolFilter, live);
  if (!resource) return [{ reason: 'Invalid', path: [], message: problem }];
  const texts = readTexts(sources, refsOf('filters', live));
  const { value, unresolved } = filterConfig(resource, texts);
  if (unresolved.length > 0)
    return unresolved.map((missing) => ({
      reason: 'InterpolatedReferencedResourcesNotFound' as const,
      path: ['spec', 'config'],
      message: `the config asks for ${missingText(missing)}`,
    }));
  const refusal = await checker.filter(resource.spec.type, value);
  return refusal === undefined ? [] : [{ reason: 'Invalid', path: ['spec', 'config'], message: refusal }];
}

/** The filters that an object matters to. */
export function filtersOf(name: CacheName, object: AnyObject, { filters }: Sources): string[] {
  if (name === 'filters') return [keyOf(object.metadata)];
  if (name !== 'secrets' && name !== 'configMaps') return [];
  return filters.find('refs', refOf(object.kind, object)).map(({ metadata }) => keyOf(metadata));
}
