/** The files of a broker: `redpanda.yaml`, which it reads when it starts, and what the cluster is founded with. Pure. */
import { stringify } from 'yaml';
import { PLACE_TOKENS } from './configure.ts';
import { brokerName } from './host-names.ts';
import { idsOf, isOpen } from './model.ts';
import type { ExternalListener, Listener, RedpandaModel } from './model.ts';
import { DATA_DIRECTORY, clientCaDirectory, headlessServiceName, podName, tlsDirectory } from './names.ts';

/** A broker within the cluster. */
export const brokerHost = ({ name, namespace }: RedpandaModel, id: number, clusterDomain: string): string =>
  `${podName(name, id)}.${headlessServiceName(name)}.${namespace}.svc.${clusterDomain}`;

const ANY = '0.0.0.0';

const bound = ({ name, port, authentication }: Listener) => ({
  name,
  address: ANY,
  port,
  ...(authentication !== undefined && { authentication_method: authentication }),
});

/** What clients outside are told; what depends on the broker's place is left for its pod to fill in. */
const toldOutside = ({ name, hostPort, names }: ExternalListener, id: number) => ({
  name,
  address: names ? brokerName(names, id, PLACE_TOKENS.hostIP) : PLACE_TOKENS.nodeAddress,
  port: hostPort,
});

/** What a broker reads, but for the servers by which it finds the others: those change with the number of brokers. */
export function brokerConfig(
  model: RedpandaModel,
  id: number,
  clusterDomain: string,
): Record<string, object> {
  const { external, admin, rpcPort, pandaproxy, schemaRegistry, developerMode, settings } = model;
  const address = brokerHost(model, id, clusterDomain);
  const outside = external ? [external] : [];
  const kafka = [...model.kafka, ...outside];
  const advertised = ({ name, port }: Listener) => ({ name, address, port });
  // There is one where it is needed.
  const brokers = model.kafka.filter(isOpen).map(({ port }) => ({ address, port }));
  const sections: Record<string, object | undefined> = {
    redpanda: {
      data_directory: DATA_DIRECTORY,
      node_id: id,
      rpc_server: { address: ANY, port: rpcPort },
      advertised_rpc_api: { address, port: rpcPort },
      kafka_api: kafka.map(bound),
      advertised_kafka_api: [
        ...model.kafka.map(advertised),
        ...outside.map((listener) => toldOutside(listener, id)),
      ],
      kafka_api_tls: kafka.flatMap(tlsOf),
      admin: [bound(admin)],
      developer_mode: developerMode,
    },
    pandaproxy: pandaproxy && {
      pandaproxy_api: [bound(pandaproxy)],
      advertised_pandaproxy_api: [advertised(pandaproxy)],
    },
    pandaproxy_client: pandaproxy && { brokers },
    schema_registry: schemaRegistry && { schema_registry_api: [bound(schemaRegistry)] },
    schema_registry_client: schemaRegistry && { brokers },
  };
  const found = Object.entries(sections).flatMap(([section, own]) =>
    own ? [[section, { ...settings[section], ...own }] as const] : [],
  );
  return Object.fromEntries(found);
}

function tlsOf({ name, tls }: Listener): object[] {
  if (!tls) return [];
  const folder = tlsDirectory(name);
  return [
    {
      name,
      enabled: true,
      cert_file: `${folder}/tls.crt`,
      key_file: `${folder}/tls.key`,
      require_client_auth: tls.clientCa !== undefined,
      ...(tls.clientCa !== undefined && { truststore_file: `${clientCaDirectory(name)}/ca.crt` }),
    },
  ];
}

/**
 * The files by name. Every broker is told all of them, and none founds a cluster alone: one that has lost its disk must find the others
 * instead of founding a second cluster.
 */
export function configFiles(model: RedpandaModel, clusterDomain: string): Record<string, string> {
  const seeds = idsOf(model).map((id) => ({
    host: { address: brokerHost(model, id, clusterDomain), port: model.rpcPort },
  }));
  const files = idsOf(model).map((id) => {
    const { redpanda, ...rest } = brokerConfig(model, id, clusterDomain);
    const whole = {
      redpanda: { ...redpanda, empty_seed_starts_cluster: false, seed_servers: seeds },
      ...rest,
    };
    return [`${podName(model.name, id)}.yaml`, stringify(whole, { aliasDuplicateObjects: false })] as const;
  });
  return { ...Object.fromEntries(files), 'bootstrap.yaml': stringify(model.bootstrap) };
}
