/** All dashboards that are generated. */
import { BROKERS } from './dashboards/brokers.ts';
import { DNS } from './dashboards/dns.ts';
import { FLEET } from './dashboards/fleet.ts';
import { PROXY } from './dashboards/proxy.ts';
import { STRETCH } from './dashboards/stretch.ts';
import type { Dashboard } from './panel.ts';

/** By the name of the file. The one of exposed brokers is not among them: it has parts that are no plain panels. */
export const DASHBOARDS: Readonly<Record<string, Dashboard>> = {
  fleet: FLEET,
  proxy: PROXY,
  dns: DNS,
  brokers: BROKERS,
  stretch: STRETCH,
};
