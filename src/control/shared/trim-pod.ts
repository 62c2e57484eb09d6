/** As much of a pod as decisions about brokers look at. */
import { trimManagedFields } from '../../kube/cache/cache.ts';
import type { AnyObject } from '../../kube/object.ts';

const trimAll = trimManagedFields<AnyObject>();

/** Where it is, which ports of the node it has, and what it counts in quotas. One function for all: caches are shared by it. */
export function trimPod({ apiVersion, kind, metadata, spec, status }: AnyObject): AnyObject {
  const { nodeName, containers, initContainers, overhead } = (spec ?? {}) as Spec;
  const trimmed = {
    nodeName,
    ...(containers && { containers: containers.map(trimContainer) }),
    ...(initContainers && { initContainers: initContainers.map(trimContainer) }),
    ...(overhead && { overhead }),
  };
  return trimAll({ apiVersion, kind, metadata, spec: trimmed, status });
}

interface Spec {
  nodeName?: string;
  containers?: Container[];
  initContainers?: Container[];
  overhead?: object;
}

interface Container {
  ports?: { hostPort?: number }[];
  resources?: object;
  restartPolicy?: string;
}

function trimContainer({ ports = [], resources, restartPolicy }: Container): Container {
  const onNode = ports.flatMap(({ hostPort }) => (hostPort ? [{ hostPort }] : []));
  return {
    ...(onNode.length > 0 && { ports: onNode }),
    ...(resources && { resources }),
    ...(restartPolicy !== undefined && { restartPolicy }),
  };
}
