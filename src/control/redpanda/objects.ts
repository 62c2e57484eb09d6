/** What a Redpanda cluster has besides its brokers: how they are found, what they read, and how many may be taken away. */
import type { AnyObject, OwnerReference } from '../../kube/object.ts';
import { redpandaCluster } from '../../resources/redpanda/cluster.ts';
import type { OperatorPods } from '../brokers/objects/services.ts';
import { configFiles } from './config.ts';
import type { Listener, RedpandaModel } from './model.ts';
import {
  bootstrapServiceName,
  configMapName,
  disruptionBudgetName,
  headlessServiceName,
  networkPolicyName,
  objectLabels,
  podSelector,
  serviceAccountName,
} from './names.ts';

/** All of it goes with the Cluster; claims are no object of ours, and stay. */
const ownedByCluster = ({ name, uid }: RedpandaModel): OwnerReference[] => [
  {
    apiVersion: `${redpandaCluster.group}/${redpandaCluster.versions[0]}`,
    kind: redpandaCluster.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: false,
  },
];

export const metadataOf = (model: RedpandaModel, name: string) => ({
  name,
  namespace: model.namespace,
  labels: objectLabels(model.name),
  ownerReferences: ownedByCluster(model),
});

const port = (name: string, number: number) => ({ name, port: number, targetPort: number, protocol: 'TCP' });

/** The listeners that clients use. */
export const clientListeners = ({ kafka, pandaproxy, schemaRegistry }: RedpandaModel): Listener[] => [
  ...kafka,
  ...(pandaproxy ? [pandaproxy] : []),
  ...(schemaRegistry ? [schemaRegistry] : []),
];

/** Gives every broker its name, also before it is ready: they find each other by these. */
function headlessService(model: RedpandaModel): AnyObject {
  const { admin, rpcPort } = model;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(model, headlessServiceName(model.name)),
    spec: {
      type: 'ClusterIP',
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: podSelector(model.name),
      ports: [
        port(admin.name, admin.port),
        port('rpc', rpcPort),
        ...clientListeners(model).map(({ name, port: number }) => port(name, number)),
      ],
    },
  };
}

/** Where clients begin. */
function bootstrapService(model: RedpandaModel): AnyObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(model, bootstrapServiceName(model.name)),
    spec: {
      type: 'ClusterIP',
      selector: podSelector(model.name),
      ports: clientListeners(model).map(({ name, port: number }) => port(name, number)),
    },
  };
}

/** It has no rights, and the pods do not even get to show who they are. */
const serviceAccount = (model: RedpandaModel): AnyObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: metadataOf(model, serviceAccountName(model.name)),
  automountServiceAccountToken: false,
});

/** There are no secrets in it: keys are in Secrets that brokers mount. */
const configMap = (model: RedpandaModel, clusterDomain: string): AnyObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: metadataOf(model, configMapName(model.name)),
  data: configFiles(model, clusterDomain),
});

/** Whoever drains a node of Kubernetes takes one broker at a time, or as its owner says. */
const disruptionBudgets = (model: RedpandaModel): AnyObject[] =>
  model.disruptionBudget
    ? [
        {
          apiVersion: 'policy/v1',
          kind: 'PodDisruptionBudget',
          metadata: metadataOf(model, disruptionBudgetName(model.name)),
          spec: { ...model.disruptionBudget, selector: { matchLabels: podSelector(model.name) } },
        },
      ]
    : [];

/**
 * Who may connect to brokers. Their admin API takes whoever reaches it, so it is for the namespace of the cluster and for the operator; whoever
 * else is to have it, for its metrics, gets a NetworkPolicy more. An operator outside of Kubernetes has no address that is known here.
 */
function networkPolicy(model: RedpandaModel, operator: OperatorPods | undefined): AnyObject {
  const { admin, rpcPort, external } = model;
  const brokers = { podSelector: { matchLabels: podSelector(model.name) } };
  const ownNamespace = { podSelector: {} };
  const control = operator && {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': operator.namespace } },
    podSelector: { matchLabels: operator.labels },
  };
  const rule = (number: number, from: object = {}) => ({
    ports: [{ port: number, protocol: 'TCP' }],
    ...from,
  });
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: metadataOf(model, networkPolicyName(model.name)),
    spec: {
      podSelector: { matchLabels: podSelector(model.name) },
      policyTypes: ['Ingress'],
      ingress: [
        rule(rpcPort, { from: [brokers] }),
        rule(admin.port, control ? { from: [ownNamespace, control] } : {}),
        ...[...clientListeners(model), ...(external ? [external] : [])].map((one) => rule(one.port)),
      ],
    },
  };
}

export const objectsOf = (
  model: RedpandaModel,
  { clusterDomain, operator }: { clusterDomain: string; operator: OperatorPods | undefined },
): AnyObject[] => [
  serviceAccount(model),
  networkPolicy(model, operator),
  headlessService(model),
  bootstrapService(model),
  ...disruptionBudgets(model),
  configMap(model, clusterDomain),
];
