import type { Problem, VirtualClusterConfig } from '../config/model.ts';
import type { Filter, FilterProblem } from '../filter.ts';

/** A filter of a user's own may say whatever it likes. */
const MAX_MESSAGE = 256;

const SILENT: FilterProblem = { reason: 'FilterProblem', message: 'it fails to say whether it is well' };

type Asked = Pick<Filter, 'problem'>;

/** What the filters of a virtual cluster lack, each by its name. */
export function filterProblems({
  config,
  filters,
}: {
  config: Pick<VirtualClusterConfig, 'name' | 'filters'>;
  filters: readonly Asked[];
}): Problem[] {
  return filters.flatMap((filter, i): Problem[] => {
    const said = problemOf(filter);
    if (!said) return [];
    const problem = `filter "${config.filters[i]?.name}": ${said.message}`;
    return [{ cluster: config.name, problem, stage: 'filter', reason: said.reason }];
  });
}

function problemOf(filter: Asked): FilterProblem | undefined {
  try {
    const said = filter.problem?.();
    if (!said) return undefined;
    const reason = said.reason === 'KeyServiceUnavailable' ? said.reason : 'FilterProblem';
    return { reason, message: said.message.slice(0, MAX_MESSAGE) };
  } catch {
    return SILENT;
  }
}
