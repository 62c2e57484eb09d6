import { z } from 'zod';
import { plainStatus } from '../common/conditions.ts';
import { MODULE_PREFIX, PACKAGE_NAME } from '../../ops/filter-module.ts';
import { defineKind, nameAtMost } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { text } from '../schema.ts';
import { KROXYLICIOUS_FILTER, ageColumn, conditionColumn, ours } from './group.ts';

const spec = z.object({
  type: text(253, {
    matching: new RegExp(
      `^(?:[A-Za-z0-9][-A-Za-z0-9_.$]*|${MODULE_PREFIX}${PACKAGE_NAME.source.slice(1, -1)})$`,
    ),
    otherwise:
      'write the name of a filter, the Java class of one, or module: and the name of an npm package, never a path',
  }).describe(
    'Which filter: a short name, the Java class name that Kroxylicious uses, or `module:` and the npm package of one of your own, which the KafkaProxy has to allow in `filterModules`.',
  ),
  // Only the filter knows what is in it, nulls included.
  config: z
    .record(z.string(), z.unknown())
    .default({})
    .describe(
      'The filter’s own configuration. `${secret:NAME:KEY}` and `${configmap:NAME:KEY}` stand for values in this namespace, in fields that the filter declares secret.',
    ),
});

export const kafkaProtocolFilter = defineKind({
  ...ours,
  group: KROXYLICIOUS_FILTER,
  kind: 'KafkaProtocolFilter',
  plural: 'kafkaprotocolfilters',
  singular: 'kafkaprotocolfilter',
  shortNames: ['kpf'],
  description: 'A filter with its configuration, for virtual clusters to use.',
  columns: [
    { name: 'Type', type: 'string', jsonPath: '.spec.type', description: 'Which filter.' },
    conditionColumn('Accepted', 'Whether the configuration is valid for the filter.'),
    conditionColumn('ResolvedRefs', 'Whether everything it refers to is there.'),
    ageColumn,
  ],
  spec: spec.describe('Which filter, and how it is set up.'),
  status: plainStatus,
  rules: [nameAtMost(63, 'it is used as a label')],
  normalise: (written) => written,
});

export type KafkaProtocolFilter = ResourceOf<typeof kafkaProtocolFilter>;
