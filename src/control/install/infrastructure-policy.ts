/**
 * Refuses annotations and labels that the operator could not use. Users may write them in several forms, so the CRDs take anything
 * there, and rules in a CRD cannot look into it; an admission policy can.
 */
import { admissionRules } from '../../resources/common/infrastructure.ts';
import { kafkaProxyIngress } from '../../resources/kroxylicious/kafka-proxy-ingress.ts';
import { kafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import { virtualKafkaCluster } from '../../resources/kroxylicious/virtual-kafka-cluster.ts';
import { boundPolicy, labelsOf } from './objects.ts';
import type { Manifest } from './objects.ts';

/** Of a proxy or an ingress, or those of the ingresses that a virtual cluster names, in both spellings. */
const INFRASTRUCTURES = [
  '(has(object.spec.infrastructure) ? [object.spec.infrastructure] : [])',
  ...['ingresses', 'ingress'].map(
    (list) =>
      `(has(object.spec.${list}) ? object.spec.${list}.filter(one, has(one.infrastructure)).map(one, one.infrastructure) : [])`,
  ),
].join(' + ');

export function infrastructurePolicy(): Manifest[] {
  const resources = [kafkaProxy, kafkaProxyIngress, virtualKafkaCluster].map(({ plural }) => plural);
  const rule = {
    apiGroups: [kafkaProxy.group],
    apiVersions: ['*'],
    operations: ['CREATE', 'UPDATE'],
    resources,
  };
  const { variables, validations } = admissionRules('variables.infrastructures');
  return boundPolicy(
    { name: 'isthmus-infrastructure', labels: labelsOf('admission') },
    {
      matchConstraints: { resourceRules: [rule] },
      // What is there already can still be labelled and deleted.
      matchConditions: [
        {
          name: 'spec-changed',
          expression:
            'has(object.spec) && (oldObject == null || !has(oldObject.spec) || object.spec != oldObject.spec)',
        },
      ],
      variables: [{ name: 'infrastructures', expression: INFRASTRUCTURES }, ...variables],
      validations,
    },
  );
}
