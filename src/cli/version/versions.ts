/** Which of the images that run in a cluster go with one another, and with this command. Pure. */
import { OPERATOR_COMPONENT } from '../../control/install/objects.ts';
import { PROXY_COMPONENT } from '../../control/proxy/names.ts';

/** What a container runs, and of which version that is said to be. */
export interface Program {
  image: string;
  version: string | undefined;
}

/** A Deployment of Isthmus. */
export interface Workload extends Program {
  namespace: string;
  name: string;
  component: string;
  /** Of an operator. */
  roads: readonly string[];
  /** Those that it serves; all of them if there are none. */
  watchNamespaces: readonly string[];
  isPaused: boolean;
  /** Whether Kubernetes has given up waiting for new pods. */
  isStuck: boolean;
  pods: readonly (Program & { name: string })[];
}

/** What was asked for, and all that could be seen: an operator may be in another namespace than its proxies. */
export interface Seen {
  workloads: readonly Workload[];
  all: readonly Workload[];
  /** Whether `all` is all that there is. */
  isWhole: boolean;
}

/** `rolling`: not of its own version yet, as it may be for the time of a restart. */
export type Supported = 'yes' | 'no' | 'rolling' | 'unknown';

export interface ImageRow {
  namespace: string;
  kind: 'Deployment' | 'Pod';
  name: string;
  image: string;
  version: string;
  supported: Supported;
  /** If it is not simply so. */
  why?: string;
}

const UNKNOWN = 'unknown';

/** A row for each workload, and for each of its pods that runs something else. */
export function imageRows(seen: Seen, command: string): ImageRow[] {
  return seen.workloads.flatMap((workload) => {
    const { namespace, name, image, version = UNKNOWN } = workload;
    const row = { namespace, kind: 'Deployment' as const, name, image, version };
    const expected = expectedVersions(workload, seen, command);
    return [{ ...row, ...verdict(workload, expected) }, ...podRows(workload)];
  });
}

interface Expected {
  versions: readonly string[];
  of: string;
}

/** A proxy reads what its operator writes; all others are what this command installs. */
function expectedVersions(workload: Workload, { all, isWhole }: Seen, command: string): Expected | undefined {
  const isProxy = workload.component === PROXY_COMPONENT;
  const operators = isProxy ? operatorsOf(workload, all) : [];
  const versions = operators.flatMap(({ version }) => version ?? []);
  if (versions.length > 0) return { versions, of: 'its operator' };
  return isProxy && !isWhole ? undefined : { versions: [command], of: 'this command' };
}

const operatorsOf = ({ namespace }: Workload, all: readonly Workload[]) =>
  all.filter(
    ({ component, roads, watchNamespaces }) =>
      component === OPERATOR_COMPONENT &&
      roads.includes('proxy') &&
      (watchNamespaces.length === 0 || watchNamespaces.includes(namespace)),
  );

function verdict({ version }: Program, expected: Expected | undefined): Pick<ImageRow, 'supported' | 'why'> {
  if (version === undefined)
    return { supported: 'unknown', why: 'nobody has said of which version its image is' };
  if (!expected)
    return { supported: 'unknown', why: 'its operator is in another namespace, where you may not look' };
  const { versions, of } = expected;
  if (versions.includes(version)) return { supported: 'yes' };
  return { supported: 'no', why: `it is of ${version}, and ${of} of ${versions.join(' and ')}` };
}

function podRows({ namespace, pods, isPaused, isStuck, ...current }: Workload): ImageRow[] {
  return pods
    .filter(({ image, version }) => image !== current.image || version !== current.version)
    .map(({ name, image, version = UNKNOWN }) => ({
      namespace,
      kind: 'Pod',
      name,
      image,
      version,
      ...(isStuck && !isPaused
        ? { supported: 'no', why: `the rollout of Deployment ${current.name} does not get on` }
        : {
            supported: 'rolling',
            why: `the rollout of Deployment ${current.name} is ${isPaused ? 'paused' : 'under way'}`,
          }),
    }));
}
