/** The proxy road: virtual Kafka clusters behind Services, load balancers, Routes and Gateways. */
import type { Client } from '../../kube/http/client.ts';
import { reconcileBy } from '../kernel/reconcile.ts';
import type { Road } from '../kernel/road.ts';
import { createChecker } from './config/checks.ts';
import type { ProxyChecks } from './config/checks.ts';
import { PROXY_EVENTS } from './faults.ts';
import { filterReconciler } from './filters.ts';
import type { PlanSettings } from './observed.ts';
import { newToken } from './pods/management-access.ts';
import type { Mint } from './pods/management-access.ts';
import { askByHttps } from './pods/pod-client.ts';
import type { AskPod } from './pods/pod-client.ts';
import { createPodClient } from './pods/pods.ts';
import { proxyReconciler } from './reconcile.ts';
import { PROXY_WATCHES, everyProxy } from './watches.ts';
import type { ProxyViews } from './watches.ts';

export interface ProxyRoadOptions {
  settings: PlanSettings;
  client: () => Client;
  /** Without them, what the proxy would refuse is only found out by the proxy. */
  checks?: ProxyChecks | undefined;
  /** How pods are asked what they serve; over HTTPS if left out. */
  askPod?: AskPod | undefined;
}

/** Proxies mostly wait for the API server. */
const PROXIES_AT_ONCE = 8;

const VALIDITY_MS = 10 * 365 * 24 * 60 * 60 * 1000;

const MINT: Mint = {
  token: newToken,
  async keyPair(host) {
    // Loaded when one is needed, which is seldom: it takes memory.
    const { selfSigned } = await import('../../pki/self-signed.ts');
    return selfSigned(host, { now: new Date(), validityMs: VALIDITY_MS });
  },
};

export function proxyRoad({
  settings,
  client,
  checks,
  askPod = askByHttps,
}: ProxyRoadOptions): Road<ProxyViews> {
  // These outlive a term of leadership.
  const checker = createChecker(checks);
  const pods = createPodClient(client, askPod, Date.now);
  return {
    name: 'proxy',
    watches: PROXY_WATCHES,
    events: PROXY_EVENTS,
    everyKey: { proxy: everyProxy },
    controllers: (context) => {
      const { watched: caches, metrics } = context;
      const proxies = proxyReconciler({ caches, checker, pods, settings, metrics, mint: MINT });
      return {
        proxy: { concurrency: PROXIES_AT_ONCE, reconcile: reconcileBy(proxies, context) },
        'proxy-filter': { reconcile: reconcileBy(filterReconciler(caches, checker), context) },
      };
    },
  };
}
