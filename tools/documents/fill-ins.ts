/** What is printed in each design document, block by block, and what has to be filled in. */
import { fill, leaveOut } from './edits.ts';
import type { Edit } from './edits.ts';

/** A YAML block: not a manifest, or one or more manifests (one for each alternative that it prints). */
export type Block = { skip: string } | { variants: readonly Variant[] };

export interface Variant {
  /** Tells the alternatives of one block apart. */
  name?: string;
  edits: readonly Edit[];
  /** A file for kubectl itself, which an API server does not take. */
  notApplied?: string;
}

export interface Document {
  file: string;
  /** The road it describes, and the name of its folder of fixtures. */
  road: string;
  blocks: readonly Block[];
}

const asPrinted: Block = { variants: [{ edits: [] }] };
const one = (...edits: Edit[]): Block => ({ variants: [{ edits }] });

const LETTER = 'a letter that stands for a value; a condition is True, False or Unknown';
const YES = 'a letter that stands for a value, and which YAML 1.1 takes for a boolean';
const SOME = 'stands for some condition';
const EITHER = 'one of the alternatives printed';
const OTHER = 'another of the alternatives printed, of which exactly one may be given';

const statusLetters = [
  fill('   - status: x', '   - status: "True"', LETTER),
  fill('     type: y', '     type: Ready', YES),
];
const someCondition = fill('     - ...', '     - {status: "True", type: Ready, reason: Ready}', SOME);

const protocolTls = fill(
  '    protocol: TCP|TLS (ClusterIP supports both)',
  '    protocol: TLS',
  `${EITHER}; the one that goes with the tls printed below`,
);
const clusterIp = leaveOut('  clusterIP:', '  loadBalancer:', OTHER);
const loadBalancer = leaveOut('  loadBalancer:', '  openShiftRoute:', OTHER);
const openShiftRoute = leaveOut('  openShiftRoute:', '  gateway:', OTHER);
const gateway = leaveOut('  gateway:', '', OTHER);

const ingress: Block = {
  variants: [
    { name: 'clusterip', edits: [protocolTls, loadBalancer, openShiftRoute, gateway, ...statusLetters] },
    { name: 'loadbalancer', edits: [clusterIp, openShiftRoute, gateway, ...statusLetters] },
    { name: 'openshiftroute', edits: [clusterIp, loadBalancer, gateway, ...statusLetters] },
    { name: 'gateway', edits: [clusterIp, loadBalancer, openShiftRoute, ...statusLetters] },
  ],
};

const GROUP = '      group: strimzi.io|kroxylicious.io # must be strimzi.io or kroxylicious.io';
const KIND =
  '      kind: Kafka|KafkaClusterRef  # must be Kafka (belonging to group strimzi.io) or TargetClusterRef (belonging to group kroxylicious.io)';
const LISTENER =
  '      listenerName: listener # name of strimzi listener, permitted only for Kafka (group strimzi.io).  (Optional)';
const virtualStatus = [
  ...statusLetters,
  fill('     protocol: TCP|TLS', '     protocol: TLS', EITHER),
  someCondition,
];

const virtualCluster: Block = {
  variants: [
    {
      name: 'kafka',
      edits: [
        fill(GROUP, '      group: strimzi.io', EITHER),
        fill(KIND, '      kind: Kafka', EITHER),
        ...virtualStatus,
      ],
    },
    {
      name: 'kafkaclusterref',
      edits: [
        fill(GROUP, '      group: kroxylicious.io', EITHER),
        fill(KIND, '      kind: KafkaClusterRef', EITHER),
        { line: LISTENER, instead: [], reason: 'permitted only for Kafka, as its comment says' },
        ...virtualStatus,
      ],
    },
  ],
};

const certificate = fill('         ...', '         name: servercert', 'stands for a reference to a Secret');

const openShiftVariation = one(
  fill('     ...', '     name: myproxy', 'stands for the proxyRef of the examples above', '  proxyRef:'),
  fill(
    '     ...',
    '     clusterRef: {name: mytargetcluster}',
    'stands for the target above',
    '  targetCluster:',
  ),
  fill('     ...', '  - name: encryption', 'stands for the filters above', '  filterRefs:'),
);

// The worked examples: a proxy, an ingress, a virtual cluster, and mostly a target.
const onClusterPlain = [asPrinted, asPrinted, asPrinted, asPrinted];
const withCertificate = [asPrinted, asPrinted, one(certificate), asPrinted];
const upstreamFromKafka = [asPrinted, asPrinted, asPrinted];

const proxy: Document = {
  file: '003_80b81118986053a6.txt',
  road: 'proxy',
  blocks: [
    one(...statusLetters, someCondition),
    ingress,
    virtualCluster,
    asPrinted,
    one(
      fill(
        '   protocol: TCP|TLS',
        '   protocol: TLS',
        `${EITHER}; the one that goes with the tls printed below`,
      ),
    ),
    ...onClusterPlain,
    ...withCertificate,
    openShiftVariation,
    ...withCertificate, // OpenShift Route
    ...withCertificate, // load balancer
    ...upstreamFromKafka,
  ],
};

const ENVIRONMENT = 'environment variables of an operator, not a manifest';
const CLUSTER_LABEL = '    strimzi.io/cluster: my-cluster';
const namespaceAt = (indent: string) =>
  fill(`${indent}namespace: <namespace>`, `${indent}namespace: default`, 'stands for a namespace');

const stretch: Document = {
  file: '001_e966e33dc5f8a6e9.txt',
  road: 'stretch',
  blocks: [
    one(
      fill('  ...', '  name: my-pool', 'stands for the rest of the metadata'),
      fill('    ...', CLUSTER_LABEL, 'stands for other labels'),
    ),
    { skip: ENVIRONMENT },
    one(namespaceAt('  ')),
    asPrinted,
    {
      variants: [
        {
          notApplied: 'a kubeconfig: kubectl reads it, an API server does not',
          edits: [
            namespaceAt('    '),
            fill('    token: <TOKEN>', '    token: some-token', 'stands for a token'),
          ],
        },
      ],
    },
    one(fill('  ...', '  name: my-cluster', 'stands for the rest of the metadata'), {
      line: '    ...',
      instead: [],
      reason: 'stands for other annotations',
    }),
    { skip: ENVIRONMENT },
    { skip: ENVIRONMENT },
  ],
};

/** The documents that print YAML; the other two print none. */
export const DOCUMENTS: readonly Document[] = [proxy, stretch];
export const DOCUMENTS_WITHOUT_YAML = ['000_47cbe7deac203c4f.txt', '002_60ac34f1338e92db.txt'] as const;
