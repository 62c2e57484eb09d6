/** Where services are imported to: each into the namespace that it has in its own cluster, or all into one. */
import { keyOf } from '../../kube/object.ts';
import type { KubeObject } from '../../kube/object.ts';
import { IMPORTED_NAMESPACE_LABEL, IMPORTED_SERVICE_LABEL, derivedName } from './names.ts';
import type { ServiceName } from './objects.ts';

/** The namespace of all imports; undefined if each has that of its service. */
export type ImportNamespace = string | undefined;

/** Where the ServiceImport of a service is. In a namespace for all, names of services would collide. */
export function placeOf(service: ServiceName, importNamespace: ImportNamespace): ServiceName {
  return importNamespace === undefined ? service : { namespace: importNamespace, name: derivedName(service) };
}

/** The service that the labels of an object say it was imported for. Anybody may write labels: see `importedService`. */
export function labelledService({ metadata }: KubeObject): ServiceName | undefined {
  const { namespace = '', labels } = metadata;
  const name = labels?.[IMPORTED_SERVICE_LABEL];
  return name === undefined
    ? undefined
    : { namespace: labels?.[IMPORTED_NAMESPACE_LABEL] ?? namespace, name };
}

/** The service that an object was imported for; undefined where imports of that service are not. */
export function importedService(
  object: KubeObject,
  importNamespace: ImportNamespace,
): ServiceName | undefined {
  const service = labelledService(object);
  if (!service || placeOf(service, importNamespace).namespace !== object.metadata.namespace) return undefined;
  return service;
}

/** The service of a ServiceImport; undefined if it is not where that of this service would be. */
export function serviceOfImport(
  object: KubeObject,
  importNamespace: ImportNamespace,
): ServiceName | undefined {
  const { namespace = '', name } = object.metadata;
  if (importNamespace === undefined) return { namespace, name };
  const service = importedService(object, importNamespace);
  return service && keyOf(placeOf(service, importNamespace)) === keyOf({ namespace, name })
    ? service
    : undefined;
}
