/** What brokers are called outside of Kubernetes. Pure. */
import { ANY_ID_TOKEN } from '../brokers/expose/names.ts';
import type { HostNames } from './model.ts';

/** Stands for the address of the node that a broker runs on, which only its pod knows. */
export const HOST_IP_TOKEN = '$(host-ip)';

/** Stands for the ordinal, and a number that is added to it. */
export const idToken = (added: number): string => (added === 0 ? '$(id)' : `$(id+${added})`);

export const brokerName = ({ broker }: HostNames, id: number, hostIP: string): string =>
  broker
    .replaceAll(ANY_ID_TOKEN, (_, added: string | undefined) => String(id + Number(added ?? 0)))
    .replaceAll(HOST_IP_TOKEN, hostIP);

/** Whether the names of brokers depend on where they run. */
export const needsHostIP = (names: HostNames | undefined): boolean =>
  names?.broker.includes(HOST_IP_TOKEN) ?? false;
