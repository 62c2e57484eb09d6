/** The names that tenants of the DNS server have. */
export const ZONE = 'example.test';
/** Names of well-behaved tenants, in objects of a hundred. */
export const OBJECTS = 50;
export const NAMES_EACH = 100;

export const hostName = (object: number, number: number) => `h${number}.t${object}.${ZONE}`;

export const endpoints = (name: string, list: object[]) => ({
  apiVersion: 'externaldns.k8s.io/v1alpha1',
  kind: 'DNSEndpoint',
  metadata: { name, namespace: 'default' },
  spec: { endpoints: list },
});
