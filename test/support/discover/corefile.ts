/** For the tests of this folder. */

/** As kubeadm writes it. */
export const KUBEADM = `.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
`;

/** That of NodeLocal DNSCache, as its manifest has it: what is between underscores is filled in on the nodes. */
export const NODE_CACHE = nodeCacheCorefile(53, '__PILLAR__LOCAL__DNS__ 10.96.0.10');

/** The same with another port and addresses. */
export function nodeCacheCorefile(port: number, bind: string): string {
  const block = (zone: string, upstream: string) =>
    `${zone}:${port} {\n    errors\n    cache 30\n    reload 2s 1s\n    bind ${bind}\n    forward . ${upstream}\n}\n`;
  const cluster = ['cluster.local', 'in-addr.arpa', 'ip6.arpa'];
  return [
    ...cluster.map((zone) => block(zone, '__PILLAR__CLUSTER__DNS__')),
    block('.', '__PILLAR__UPSTREAM__SERVERS__'),
  ].join('');
}
