/** Sources of connections, as NetworkPolicies name them. */
import { z } from 'zod';
import { text, withRules } from '../schema.ts';

const atomic = { 'x-kubernetes-list-type': 'atomic' };

const CIDR = {
  matching: /^[0-9a-fA-F.:]+\/[0-9]{1,3}$/,
  otherwise: 'must be a network in CIDR notation, such as 10.0.0.0/8 or fd00::/8',
};

const expression = z.object({
  key: text(317).describe('The label.'),
  operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']).describe('How it compares to the values.'),
  values: z
    .array(z.string().max(63))
    .max(32)
    .meta(atomic)
    .describe('The values, for In and NotIn.')
    .exactOptional(),
});

const selector = z.object({
  matchLabels: z.record(z.string(), z.string().max(63)).describe('Labels with their values.').exactOptional(),
  matchExpressions: z
    .array(expression)
    .max(16)
    .meta(atomic)
    .describe('Conditions for labels.')
    .exactOptional(),
});

export const networkPolicyPeer = withRules(
  z.object({
    namespaceSelector: selector.describe('Pods in these namespaces; {} is all namespaces.').exactOptional(),
    podSelector: selector
      .describe('Pods with these labels, in those namespaces, or in the namespace of this resource.')
      .exactOptional(),
    ipBlock: z
      .object({
        cidr: text(64, CIDR).describe('A network.'),
        except: z
          .array(text(64, CIDR))
          .max(32)
          .meta(atomic)
          .describe('Parts of it that are left out.')
          .exactOptional(),
      })
      .describe('A network outside of the cluster.')
      .exactOptional(),
  }),
  {
    cel: 'has(self.ipBlock) != (has(self.namespaceSelector) || has(self.podSelector))',
    holds: ({ ipBlock, namespaceSelector, podSelector }) =>
      (ipBlock !== undefined) !== (namespaceSelector !== undefined || podSelector !== undefined),
    message: 'give ipBlock, or namespaceSelector and podSelector or one of them',
  },
);
