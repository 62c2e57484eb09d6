/** What `isthmus check` can find. */
import type { CodeEntry } from './entry.ts';

export const CHECKS = {
  ApiUnreachable: {
    means: 'The Kubernetes API server does not answer.',
    why: 'The address in the kubeconfig, the network, or the credentials are wrong, or the server is down.',
    cure: 'Try `kubectl version` with the same kubeconfig and context.',
  },
  ApiTooOld: {
    means: 'The API server is older than Isthmus can work with.',
    why: 'ValidatingAdmissionPolicies and what CRDs here rely on are served from Kubernetes 1.30 on.',
    cure: 'Upgrade the cluster.',
  },
  CannotLook: {
    means: 'Something could not be looked at, so nothing is known about it.',
    why: 'The user of this kubeconfig may not read it, or the server failed.',
    cure: 'Run the check as somebody who may read it; the message names the kind.',
  },
  CrdMissing: {
    means: 'The API server does not have a kind that is needed.',
    why: 'Its CRD was not applied.',
    cure: 'Apply what `isthmus install` prints; kinds of other projects come with `--crds PROJECT`.',
  },
  CrdForeign: {
    means:
      'Another project’s CRD serves this kind, and would drop fields or refuse values that Isthmus knows.',
    why: 'API servers drop fields that the schema of a CRD does not have, without a word, and refuse values that it does not list.',
    cure: 'Do without what the message names, write the annotation that it names instead, or use the CRD that `isthmus install --crds` prints.',
  },
  CrdOutdated: {
    means: 'The CRD is of another version of Isthmus: fields are missing in it.',
    why: 'The program was upgraded and its CRDs were not.',
    cure: 'Apply what `isthmus install` of this version prints.',
  },
  InstallRightMissing: {
    means: 'You may not create something that an installation consists of.',
    why: 'CRDs, cluster roles and admission policies are for cluster administrators.',
    cure: 'Have an administrator apply what `isthmus install` prints.',
  },
  OperatorRightMissing: {
    means: 'The operator lacks a right that its roads need.',
    why: 'Its Role is of another version, was changed, or is for other roads.',
    cure: 'Apply what `isthmus install` prints for the same roads and namespaces.',
  },
  PolicyMissing: {
    means: 'An admission policy of the installation is missing or not bound.',
    why: 'It was deleted, or was not part of what was applied. Isthmus works, with less protection.',
    cure: 'Apply what `isthmus install` prints.',
  },
  OperatorMissing: {
    means: 'No operator is installed in this namespace.',
    why: 'It was not installed, or in another namespace.',
    cure: 'Name its namespace with `-n`, or apply what `isthmus install` prints.',
  },
  OperatorNotReady: {
    means: 'Pods of the operator are not ready.',
    why: 'They are starting, cannot be scheduled, cannot fetch the image, or fail.',
    cure: 'See `kubectl describe pod` and `kubectl logs` in the operator’s namespace.',
  },
  OperatorWithoutLeader: {
    means: 'No operator leads, so nothing is reconciled.',
    why: 'The Lease was not renewed in time: pods are down, or cannot reach the API server.',
    cure: 'See the logs of the operator’s pods.',
  },
  RoadNotServed: {
    means: 'There are resources of a road that the operator does not serve.',
    why: '`--roads` of the operator does not name it.',
    cure: 'Install with `--roads` including it.',
  },
  ResourceNotReady: {
    means: 'A resource is not ready.',
    why: 'Its condition says why; the code in the message is that of the reason.',
    cure: '`isthmus explain CODE` with that code, or `isthmus status KIND/NAME`.',
  },
  StatusOutdated: {
    means: 'Nobody has looked at the newest version of a resource.',
    why: 'The operator does not serve its road or its namespace, or does not run.',
    cure: 'See the operator’s checks; compare `--watch-namespaces`.',
  },
  KindNotServed: {
    means: 'An optional kind is not there; what needs it cannot be used.',
    why: 'The project that brings it is not installed.',
    cure: 'Nothing, unless you want that kind of ingress or record.',
  },
  NotDelegated: {
    means: 'The cluster’s own DNS does not lead to the zones of Isthmus.',
    why: 'The delegation is switched off, waits, was refused, or fails; the message says which.',
    cure: 'See docs/dns.md on delegation, and the events of the DNS server’s Service.',
  },
  NamePolicyMissing: {
    means: 'Several namespaces claim host names, and no NamePolicy says which may be whose.',
    why: 'Without one, whoever comes first has a name, whatever it is.',
    cure: 'Apply a NamePolicy for each zone that tenants share.',
  },
} as const satisfies Record<string, CodeEntry>;

export type CheckCode = keyof typeof CHECKS;
