/** Redpanda's own settings, as users write them: what is whose, and what is not theirs to set. Pure. */
import { parse } from 'yaml';
import type { RedpandaCluster } from '../../../resources/redpanda/cluster.ts';
import type { Fault } from '../faults.ts';
import type { RedpandaModel, Settings } from '../model.ts';

const PATH = ['spec', 'additionalConfiguration'] as const;
const KEY =
  /^(redpanda|pandaproxy|pandaproxy_client|schema_registry|schema_registry_client)\.([a-z][a-z0-9_]{0,127})$/;

/** Of the section `redpanda`: what belongs to one broker. All else there belongs to the cluster. */
const OF_BROKER = new Set([
  'crash_loop_limit',
  'crash_loop_sleep_sec',
  'memory_allocation_warning_threshold',
  'recovery_mode_enabled',
  'upgrade_override_checks',
  'verbose_logging_timeout_sec_max',
]);

/** What the operator sets, by section. */
const OURS: Readonly<Record<string, RegExp>> = {
  redpanda:
    /^(data_directory|node_id|rack|seed_servers|empty_seed_starts_cluster|developer_mode|(advertised_)?(rpc|kafka)_(server|api)(_tls)?|admin(_api_tls)?)$/,
  pandaproxy: /^(advertised_)?pandaproxy_api(_tls)?$/,
  pandaproxy_client: /^brokers$/,
  schema_registry: /^schema_registry_api(_tls)?$/,
  schema_registry_client: /^brokers$/,
};

type Written = RedpandaCluster['spec'];

export function settingsOf(
  spec: Written,
): Pick<RedpandaModel, 'settings' | 'bootstrap'> & { faults: Fault[] } {
  const faults: Fault[] = [];
  const settings: Record<string, Record<string, unknown>> = {};
  const bootstrap: Record<string, unknown> = { ...ownBootstrap(spec) };
  for (const [key, text] of Object.entries(spec.additionalConfiguration ?? {})) {
    const [, section, name] = KEY.exec(key) ?? [];
    const value = section === undefined ? undefined : valueOf(text);
    const fault = (reason: Fault['reason'], message: string) =>
      faults.push({ reason, path: [...PATH, key], message: `additionalConfiguration: ${message}` });
    if (section === undefined || name === undefined)
      fault('Invalid', `"${key}" is not a section and a name, such as redpanda.default_topic_partitions`);
    else if (value === undefined) fault('Invalid', `the value of "${key}" is not YAML`);
    else if (OURS[section]?.test(name)) fault('FieldIgnored', `${key} is set by the operator; remove it`);
    else if (section === 'redpanda' && !OF_BROKER.has(name)) bootstrap[name] = value;
    else (settings[section] ??= {})[name] = value;
  }
  return { settings, bootstrap, faults };
}

/** What fields of their own say of the cluster. */
function ownBootstrap({ superUsers = [], enableSasl, configuration }: Written): Settings {
  const { autoCreateTopics, groupTopicPartitions } = configuration;
  return {
    auto_create_topics_enabled: autoCreateTopics ?? false,
    ...(groupTopicPartitions !== undefined && { group_topic_partitions: groupTopicPartitions }),
    ...(enableSasl && { enable_sasl: true }),
    ...(superUsers.length > 0 && { superusers: superUsers.map(({ username }) => username) }),
  };
}

/** Deep or endless values are nobody's setting. */
const MAX_VALUE = 4096;

/** What a text means in a YAML file; undefined if nothing. */
function valueOf(text: string): unknown {
  if (text.length > MAX_VALUE) return undefined;
  try {
    return (parse(text, { maxAliasCount: 0 }) as unknown) ?? '';
  } catch {
    return undefined;
  }
}
