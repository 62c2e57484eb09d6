/** How the proxy road decides about one proxy: what the kernel calls in its order. */
import { keyOf, nameOfKey } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { Reconciler } from '../kernel/reconcile.ts';
import type { RoadMetrics } from '../kernel/metrics.ts';
import type { Watched } from '../kernel/watches.ts';
import type { Checker, ConfigRejections } from './config/checks.ts';
import { livePods, managementSecretOf, observeProxy } from './observe.ts';
import type { PodKnowledge, ProxyCaches } from './observe.ts';
import type { Observed, PlanSettings } from './observed.ts';
import { planProxy } from './plan.ts';
import type { ProxyPlan } from './plan.ts';
import { configSecretName, managementHost, managementSecretName } from './names.ts';
import { accessIn, createAccesses } from './pods/management-access.ts';
import type { Mint } from './pods/management-access.ts';
import { observePods } from './pods/poll-interval.ts';
import type { PodObservation } from './pods/poll-interval.ts';
import type { PodClient } from './pods/pods.ts';
import { refsOfProxy, textsAmong } from './refs.ts';
import type { ProxyViews } from './watches.ts';

export interface ProxyReconcilerOptions {
  caches: ProxyCaches & Pick<Watched<ProxyViews>, 'load'>;
  checker: Checker;
  pods: PodClient;
  settings: PlanSettings;
  metrics: RoadMetrics;
  /** Makes tokens and certificates. */
  mint: Mint;
}

/** What pods answered, and since when that is so. */
type Acted = PodKnowledge & PodObservation;

export function proxyReconciler(
  options: ProxyReconcilerOptions,
): Reconciler<Observed, ProxyPlan, ConfigRejections, Acted> {
  const { caches, checker, pods, settings, metrics } = options;
  const accesses = createAccesses(options.mint);
  const secretOf = (key: string) => {
    const { namespace = '', name } = nameOfKey(key);
    return managementSecretOf(caches.views, { namespace, name });
  };

  return {
    async load(key, signal) {
      const { namespace, name } = nameOfKey(key);
      const own = [configSecretName(name), managementSecretName(name)];
      const configSecrets = own.map((secret) => keyOf({ namespace, name: secret }));
      const needs = { ...textsAmong(refsOfProxy(caches.views, key)), configSecrets };
      const hasRead = await caches.load(`proxy ${key}`, needs, signal);
      await accesses.prepare(key, secretOf(key));
      return hasRead;
    },
    observe(key, acted, now) {
      const { namespace = '', name } = nameOfKey(key);
      return observeProxy(caches, { namespace, name }, now, accesses.of, acted);
    },
    plan: (observed, learned) => planProxy(observed, settings, learned),
    avoidsTaken: true,
    check: ({ config }, known) => checker.config(config, known),
    async act({ key, plan, before, now }, signal) {
      const [action] = plan.actions;
      const live: AnyObject[] = caches.views.pods.find('proxy', key);
      if (!action || live.length === 0) return { acted: undefined };
      const { namespace = '', name } = nameOfKey(key);
      const access = accessIn(secretOf(key));
      const host = managementHost(name, namespace);
      const answers = await pods.ask(live, access && { ...access, host }, signal);
      const { told, failure } = await pods.nudge(live, action.configVersion, answers, signal);
      metrics.wrote('pod', told);
      const observation = observePods({ ...action, pods: livePods(live, answers) }, before, now);
      return { acted: { answers, ...observation }, failure };
    },
  };
}
