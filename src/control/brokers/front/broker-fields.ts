/** What of a Kafka resource all its nodes have in common, field by field. Pure. */
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { userConfigOf } from '../config/user-config.ts';
import type { Fault } from '../faults.ts';
import type { BrokerCluster, Rack } from '../model/cluster.ts';
import { refusal } from './node-faults.ts';
import { templatesOf } from './templates.ts';

export function configOf({ spec }: Kafka): { config: Record<string, string>; faults: Fault[] } {
  const { config, ignored, broken } = userConfigOf(spec.kafka.config ?? {});
  const path = ['spec', 'kafka', 'config'];
  return {
    config,
    faults: [
      ...ignored.map((key): Fault => ({
        reason: 'ConfigIgnored',
        path: [...path, key],
        message: `${key} is set by the operator; remove it`,
      })),
      ...broken.map((key) =>
        refusal(
          'Invalid',
          [...path, key],
          `${key} is not a name and a value on one line of at most 32767 bytes; correct it`,
        ),
      ),
    ],
  };
}

/** On a Kafka whose CRD knows no `rack.type`: the environment variable that names the rack. It goes before what the resource says. */
export const RACK_ANNOTATION = 'isthmus.dev/rack-variable';

export function rackOf({ metadata, spec }: Kafka): Rack | undefined {
  const variable = metadata.annotations[RACK_ANNOTATION];
  if (variable !== undefined) return { by: 'environment-variable', variable };
  const { rack } = spec.kafka;
  if (!rack) return undefined;
  if (rack.type === 'environment-variable')
    return { by: 'environment-variable', variable: rack.envVarName ?? '' };
  return { by: 'topology-label', label: rack.topologyKey ?? '' };
}

export function rackFaults(kafka: Kafka): Fault[] {
  const rack = rackOf(kafka);
  if (!rack) return [];
  const isNamed =
    rack.by === 'topology-label' ? rack.label !== '' : /^[A-Za-z_][A-Za-z0-9_]*$/.test(rack.variable);
  if (isNamed) return [];
  if (RACK_ANNOTATION in kafka.metadata.annotations) {
    const message = `the annotation ${RACK_ANNOTATION} is not the name of an environment variable; correct it`;
    return [refusal('Invalid', ['metadata', 'annotations', RACK_ANNOTATION], message)];
  }
  const field = rack.by === 'topology-label' ? 'topologyKey' : 'envVarName';
  return [refusal('Invalid', ['spec', 'kafka', 'rack', field], `rack needs a ${field}`)];
}

/** A line break, or the separator of a list, would make something else of the configuration. */
export function authorizationFaults({ spec }: Kafka): Fault[] {
  const { type, superUsers = [] } = spec.kafka.authorization ?? { type: 'simple' };
  const path = ['spec', 'kafka', 'authorization'];
  return [
    ...(type === 'simple'
      ? []
      : [refusal('NotSupported', [...path, 'type'], `authorization ${type ?? 'without a type'} is not supported; use simple`)]), // prettier-ignore
    ...(superUsers.every((user) => /^[^\p{Cc};]+$/u.test(user))
      ? []
      : [refusal('Invalid', [...path, 'superUsers'], 'a super user has a line break or a semicolon in its name, or none')]), // prettier-ignore
  ];
}

export function authorizationOf({ spec }: Kafka): BrokerCluster['authorization'] {
  const { authorization } = spec.kafka;
  return authorization && { superUsers: authorization.superUsers ?? [] };
}

export function keptAuthoritiesOf({ spec }: Kafka): BrokerCluster['keptAuthorities'] {
  const isKept = (authority: Kafka['spec']['clusterCa']) => authority?.generateSecretOwnerReference === false;
  return [
    ...(isKept(spec.clusterCa) ? (['cluster-ca'] as const) : []),
    ...(isKept(spec.clientsCa) ? (['clients-ca'] as const) : []),
  ];
}

export function pullSecretsOf({ spec }: Kafka): { name: string }[] {
  const { pod } = templatesOf(spec.kafka.template);
  const secrets = pod?.['imagePullSecrets'];
  return Array.isArray(secrets) ? (secrets as { name: string }[]) : [];
}
