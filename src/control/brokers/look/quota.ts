/** Whether a pod fits into quotas once the one that it takes the place of is gone. Pure. */
import { amountOf } from '../../../resources/common/quantity.ts';

/** A quota that is too small, as the API server says it: amounts by resource. */
interface ExceededQuota {
  requested: ReadonlyMap<string, number>;
  used: ReadonlyMap<string, number>;
  limited: ReadonlyMap<string, number>;
}

/** As much of a pod as quotas count. */
export interface CountedPod {
  containers?: readonly CountedContainer[];
  initContainers?: readonly CountedContainer[];
  overhead?: Amounts;
}

type Amounts = Readonly<Record<string, string | number>>;

interface CountedContainer {
  restartPolicy?: string;
  resources?: { requests?: Amounts; limits?: Amounts };
}

const EXCEEDED =
  /exceeded quota: [^,]+, requested: (?<requested>\S+), used: (?<used>\S+), limited: (?<limited>[^\s;]+)/g;

/** All that a refusal names; undefined where one cannot be read. */
function exceededQuotas(message: string): ExceededQuota[] | undefined {
  const found = [...message.matchAll(EXCEEDED)].map(({ groups = {} }) => ({
    requested: amountsIn(groups['requested']),
    used: amountsIn(groups['used']),
    limited: amountsIn(groups['limited']),
  }));
  const isRead = found.every(({ requested, used, limited }) => requested && used && limited);
  const all = message.match(/exceeded quota/g)?.length ?? 0;
  return isRead && found.length === all && all > 0 ? (found as ExceededQuota[]) : undefined;
}

function amountsIn(text = ''): Map<string, number> | undefined {
  const amounts = new Map<string, number>();
  for (const part of text.split(',')) {
    const [resource = '', written = ''] = part.split('=');
    const amount = amountOf(written);
    if (resource === '' || amount === undefined) return undefined;
    amounts.set(resource, amount);
  }
  return amounts;
}

/** Sums of amounts like these are not exact. */
const TOLERANCE = 1 + 1e-9;

/** Whether a refusal is one of quotas alone, which have room when what the former pod has is given back. */
export const fitsInPlaceOf = (former: CountedPod, refusal: string): boolean =>
  exceededQuotas(refusal)?.every((quota) => fitsAfter(quota, former)) ?? false;

const fitsAfter = ({ requested, used, limited }: ExceededQuota, former: CountedPod): boolean =>
  [...requested].every(([resource, amount]) => {
    const others = (used.get(resource) ?? 0) - usageOf(former, resource);
    return others + amount <= (limited.get(resource) ?? 0) * TOLERANCE;
  });

/** What a pod counts for a resource of a quota, e.g. `requests.cpu`, `memory` or `pods`. */
function usageOf(
  { containers = [], initContainers = [], overhead = {} }: CountedPod,
  resource: string,
): number {
  if (resource === 'pods' || resource === 'count/pods') return 1;
  const [, kind = 'requests', name = ''] = /^(?:(requests|limits)\.)?(.+)$/.exec(resource) ?? [];
  const amount = ({ resources = {} }: CountedContainer) =>
    amountOf((kind === 'limits' ? resources.limits : resources.requests)?.[name] ?? 0) ?? 0;
  const isSidecar = ({ restartPolicy }: CountedContainer) => restartPolicy === 'Always';
  const running = [...containers, ...initContainers.filter(isSidecar)].reduce(
    (sum, one) => sum + amount(one),
    0,
  );
  const starting = Math.max(0, ...initContainers.filter((one) => !isSidecar(one)).map(amount));
  return Math.max(running, starting) + (amountOf(overhead[name] ?? 0) ?? 0);
}
