/** The kind by which a cluster says what it is called in the set (KEP-2149). */

/** As the sig-multicluster project has it, as far as it matters here. */
export function clusterPropertyCrd(): object {
  const value = { type: 'string', maxLength: 128_000, minLength: 1 };
  const spec = { type: 'object', properties: { value }, required: ['value'] };
  const openAPIV3Schema = { type: 'object', properties: { spec }, required: ['spec'] };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: 'clusterproperties.about.k8s.io',
      annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/enhancements/pull/3084' },
    },
    spec: {
      group: 'about.k8s.io',
      scope: 'Cluster',
      names: { kind: 'ClusterProperty', plural: 'clusterproperties', singular: 'clusterproperty' },
      versions: [{ name: 'v1beta1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

/** A cluster calls itself this. */
export function clusterProperty(value: string): object {
  return {
    apiVersion: 'about.k8s.io/v1beta1',
    kind: 'ClusterProperty',
    metadata: { name: 'cluster.clusterset.k8s.io' },
    spec: { value },
  };
}
