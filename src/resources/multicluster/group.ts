/** What the kinds of the Multi-Cluster Services API (KEP-1645) have in common. */
export const multicluster = {
  group: 'multicluster.x-k8s.io',
  versions: ['v1alpha1', 'v1beta1'],
  categories: ['isthmus'],
  roads: ['discover', 'stretch'],
  install: 'choice',
} as const;
