/** The pod that probes from another cluster, and what it is given. Pure. */
import { isIPv6 } from 'node:net';
import { PROBE_LABELS, PROBE_REPORT, probePod } from '../../control/shared/probe-pod.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { Endpoint } from '../../probe/endpoint.ts';
import type { ProbeFlags } from './probe-command.ts';

/** What is read there from files. */
export type ProbeFiles = Readonly<Partial<Record<'ca.crt' | 'tls.crt' | 'tls.key' | 'password', string>>>;

export interface Vantage {
  name: string;
  namespace: string;
  image: string;
  bootstrap: readonly Endpoint[];
  flags: ProbeFlags;
  files: ProbeFiles;
}

const FOLDER = '/etc/isthmus-probe';

const placeOf = ({ host, port }: Endpoint) => (isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`);

/** The same command, as it is to be run there. */
export function vantageArguments({
  bootstrap,
  flags,
  files,
}: Pick<Vantage, 'bootstrap' | 'flags' | 'files'>): string[] {
  const { resolver, tls, saslMechanism, user, timeout } = flags;
  const given: [flag: string, value: string | undefined][] = [
    ['--resolver', resolver],
    ['--ca', files['ca.crt'] === undefined ? undefined : `${FOLDER}/ca.crt`],
    ['--cert', files['tls.crt'] === undefined ? undefined : `${FOLDER}/tls.crt`],
    ['--key', files['tls.key'] === undefined ? undefined : `${FOLDER}/tls.key`],
    ['--sasl-mechanism', saslMechanism],
    ['--user', user],
    ['--password-file', files.password === undefined ? undefined : `${FOLDER}/password`],
    ['--timeout', String(timeout)],
    ['--report-file', PROBE_REPORT],
  ];
  return [
    'probe',
    ...(tls ? ['--tls'] : []),
    ...given.flatMap(([flag, value]) => (value === undefined ? [] : [`${flag}=${value}`])),
    '--',
    bootstrap.map(placeOf).join(','),
  ];
}

const hasFiles = (files: ProbeFiles) => Object.keys(files).length > 0;

export function vantagePod(vantage: Vantage): AnyObject {
  const { name, namespace, image, files } = vantage;
  return probePod({
    metadata: { name, namespace },
    image,
    args: vantageArguments(vantage),
    ...(hasFiles(files) && { files: { secretName: name, mountPath: FOLDER } }),
  });
}

/** It goes with the pod, which waits for it. */
export function vantageSecret({ name, namespace, files }: Vantage, pod: AnyObject): AnyObject | undefined {
  if (!hasFiles(files)) return undefined;
  const owner = { apiVersion: 'v1', kind: 'Pod', name, uid: pod.metadata.uid ?? '' };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace, labels: PROBE_LABELS, ownerReferences: [owner] },
    data: Object.fromEntries(
      Object.entries(files).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    ),
  };
}
