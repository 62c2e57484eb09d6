/** The configuration files of a node's programs: data in, text out. */
import { stringify } from 'yaml';
import { IMAGES } from '../images/images.ts';
import { DNS_SERVICE } from './addresses.ts';
import type { ClusterAddresses, NodeAddresses } from './addresses.ts';

/** How kube-proxy leads Services to pods. */
export type KubeProxyMode = 'nftables' | 'iptables';

/** What the files of a node say. */
export interface NodeFacts {
  name: string;
  kubeProxyMode: KubeProxyMode;
  addresses: NodeAddresses;
  cluster: ClusterAddresses;
  /** Where the node's own files are. */
  folder: string;
  /** Where the files of all the cluster's programs are. */
  pki: string;
  podLogs: string;
  cgroup: string;
  cniPlugins: string;
}

/** Pods leave with their own address: what must be translated is translated once, by `nodeRules`. */
export function cniConfig({ name, addresses }: NodeFacts): string {
  const ranges = [[{ subnet: addresses.podNetwork }]];
  const ipam = { type: 'host-local', dataDir: '/run/cni/leases', ranges, routes: [{ dst: '0.0.0.0/0' }] };
  const bridge = { type: 'bridge', bridge: 'cni0', isGateway: true, ipMasq: false, hairpinMode: true, ipam };
  const portmap = { type: 'portmap', capabilities: { portMappings: true } };
  return JSON.stringify({ cniVersion: '1.0.0', name, plugins: [bridge, portmap] }, null, 2);
}

/** `restrict_oom_score_adj`: root in a container may not lower the score, and without it every sandbox would fail. */
export function containerdConfig({ folder, cniPlugins }: NodeFacts): string {
  return `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${IMAGES.pause}"
  netns_mounts_under_state_dir = true
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${cniPlugins}"
    conf_dir = "${folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
`;
}

/** Short periods, so that a test that breaks a node does not wait for minutes until the cluster notices. */
export function kubeletConfig({ addresses, folder, pki, podLogs, cgroup }: NodeFacts): string {
  return stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    failCgroupV1: false,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: cgroup,
    cgroupsPerQOS: true,
    enforceNodeAllocatable: ['pods'],
    address: addresses.internal,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: `${pki}/ca.crt` },
    },
    authorization: { mode: 'Webhook' },
    clusterDomain: 'cluster.local',
    clusterDNS: [DNS_SERVICE],
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    tlsCertFile: `${folder}/kubelet.crt`,
    tlsPrivateKeyFile: `${folder}/kubelet.key`,
    podLogsDir: podLogs,
    containerLogMaxSize: '100Mi', // tests read logs from their beginning, and `kubectl logs` shows the newest file
    imageGCHighThresholdPercent: 100,
    // The machine's disk is not the node's: how full it is says nothing about this test.
    evictionHard: {
      'nodefs.available': '0%',
      'nodefs.inodesFree': '0%',
      'imagefs.available': '0%',
      'memory.available': '100Mi',
    },
    resolvConf: `${folder}/resolv.conf`,
    failSwapOn: false,
    healthzBindAddress: '127.0.0.1',
    volumePluginDir: '/var/lib/kubelet/plugins/volume',
    nodeStatusUpdateFrequency: '5s',
    nodeLeaseDurationSeconds: 16,
    syncFrequency: '10s',
  });
}

/** Connection tracking settings belong to the machine's first network namespace and cannot be set from another. */
export function kubeProxyConfig({ name, kubeProxyMode, addresses, cluster, folder }: NodeFacts): string {
  return stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: kubeProxyMode,
    clientConnection: { kubeconfig: `${folder}/kube-proxy.kubeconfig` },
    clusterCIDR: cluster.podNetwork,
    bindAddress: addresses.internal,
    hostnameOverride: name,
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  });
}

/** Whatever a pod sends to somewhere that is no pod leaves with the node's address. */
export function nodeRules(cluster: ClusterAddresses, allPods: string): string {
  return `
table ip node {
  chain leave {
    type nat hook postrouting priority srcnat
    ip saddr ${cluster.podNetwork} ip daddr != ${allPods} oifname "eth0" masquerade
  }
}
`;
}
