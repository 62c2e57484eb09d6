/**
 * Planners against golden folders, test/golden/<road>/<scenario>. After a change that is meant: `ISTHMUS_GOLDEN=write`, and read
 * the difference.
 */
import { resolve } from 'node:path';
import { checkProxyConfig } from '../../src/proxy/config/load.ts';
import { planKafkaScenario } from '../support/brokers/golden-scenario.ts';
import { planScenario } from '../support/control/golden-scenario.ts';
import { planRedpandaScenario } from '../support/redpanda/golden-scenario.ts';
import { goldenSuite } from '../support/golden/suite.ts';
import { createAuthority } from '../support/pki.ts';

const folder = (road: string) => resolve(import.meta.dirname, '../golden', road);
const authority = createAuthority('golden');

goldenSuite(
  'golden plans of the proxy road',
  folder('proxy'),
  async (input, former) => planScenario(input, await authority, former),
  ({ config }, name) => void checkProxyConfig(JSON.parse(config), name),
);

goldenSuite('golden plans of the kafka road', folder('kafka'), planKafkaScenario);
goldenSuite('golden plans of the redpanda road', folder('redpanda'), planRedpandaScenario);
