/** The command lines of a control plane's servers: data in, arguments out. */
import { join } from 'node:path';

/** Where a control plane keeps its files and listens. */
export interface Place {
  directory: string;
  apiPort: number;
  etcdPort: number;
  etcdPeerPort: number;
  controllerManagerPort: number;
  schedulerPort: number;
  kwokPort: number;
}

/** File names below `Place.directory`. */
export const FILES = {
  ca: 'pki/ca.crt',
  caKey: 'pki/ca.key',
  apiServer: 'pki/apiserver.crt',
  apiServerKey: 'pki/apiserver.key',
  serviceAccountPublic: 'pki/service-account.pub',
  serviceAccountPrivate: 'pki/service-account.key',
  admin: 'admin.kubeconfig',
  controllerManager: 'controller-manager.kubeconfig',
  scheduler: 'scheduler.kubeconfig',
  etcdData: 'etcd',
} as const;

/** Durability is of no use to a test, and most of etcd's cost. */
export function etcdArgs({ directory, etcdPort, etcdPeerPort }: Place): string[] {
  const client = `http://127.0.0.1:${etcdPort}`;
  const peer = `http://127.0.0.1:${etcdPeerPort}`;
  return [
    '--name=default',
    `--data-dir=${join(directory, FILES.etcdData)}`,
    '--unsafe-no-fsync',
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
  ];
}

/** Without a controller manager nobody makes service accounts, so the plugin that demands them for pods is off. */
export function apiServerArgs(
  place: Place,
  hasControllerManager: boolean,
  extra: readonly string[],
): string[] {
  const file = (name: keyof typeof FILES) => join(place.directory, FILES[name]);
  return [
    `--etcd-servers=http://127.0.0.1:${place.etcdPort}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none',
    `--secure-port=${place.apiPort}`,
    `--tls-cert-file=${file('apiServer')}`,
    `--tls-private-key-file=${file('apiServerKey')}`,
    `--client-ca-file=${file('ca')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file('serviceAccountPublic')}`,
    `--service-account-signing-key-file=${file('serviceAccountPrivate')}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--authorization-mode=Node,RBAC',
    '--allow-privileged=true',
    ...(hasControllerManager ? [] : ['--disable-admission-plugins=ServiceAccount']),
    ...extra,
  ];
}

export function controllerManagerArgs({ directory, controllerManagerPort }: Place): string[] {
  const kubeconfig = join(directory, FILES.controllerManager);
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${controllerManagerPort}`,
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${join(directory, FILES.serviceAccountPrivate)}`,
    `--root-ca-file=${join(directory, FILES.ca)}`,
    `--cluster-signing-cert-file=${join(directory, FILES.ca)}`,
    `--cluster-signing-key-file=${join(directory, FILES.caKey)}`,
    `--flex-volume-plugin-dir=${join(directory, 'flex-volumes')}`,
    '--leader-elect=false',
    '--allocate-node-cidrs=false',
  ];
}

export function schedulerArgs({ directory, schedulerPort }: Place): string[] {
  const kubeconfig = join(directory, FILES.scheduler);
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${schedulerPort}`,
    '--leader-elect=false',
  ];
}

/** kwok plays every node and its pods: they become Ready and Running at once, and nothing runs. */
export function kwokArgs({ directory, kwokPort }: Place, stages: string): string[] {
  return [
    `--kubeconfig=${join(directory, FILES.admin)}`,
    '--manage-all-nodes=true',
    '--node-ip=127.0.0.1',
    '--node-lease-duration-seconds=40',
    `--server-address=127.0.0.1:${kwokPort}`,
    `--config=${stages}`,
  ];
}
