/** What the kinds of the Gateway API have in common: they are read, and TLSRoutes are written, but never defined here. */
export const gatewayApi = {
  group: 'gateway.networking.k8s.io',
  categories: ['gateway-api'],
  roads: ['proxy'],
  install: 'never',
  // The CRD made from this schema only serves tests; a cluster gets the Gateway API's own.
  approval: 'unapproved, for tests only',
  columns: [],
} as const;
