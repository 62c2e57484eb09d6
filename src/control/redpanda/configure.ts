/** What the first container of a broker's pod runs: gives Redpanda its files, completed by what is known of the broker's place. Pure. */
import { TOLD_POD } from '../brokers/start-script.ts';
import { NODE_ANNOTATIONS } from '../shared/node-annotations.ts';
import { needsHostIP } from './host-names.ts';
import type { ExternalListener } from './model.ts';
import { CONFIG_DIRECTORY, POD_DIRECTORY, SOURCE_DIRECTORY } from './names.ts';

/** In `redpanda.yaml`, for what only the pod knows. */
export const PLACE_TOKENS = { nodeAddress: '@node-address@', hostIP: '@host-ip@' } as const;

/** What a broker has to know of its place before it starts. */
export type PlaceNeed = keyof typeof PLACE_TOKENS;

export function placeNeedOf(external: ExternalListener | undefined): PlaceNeed | undefined {
  if (!external) return undefined;
  if (!external.names) return 'nodeAddress';
  return needsHostIP(external.names) ? 'hostIP' : undefined;
}

const SOURCE = `${SOURCE_DIRECTORY}/"$POD_NAME".yaml`;
const CONFIG = `${CONFIG_DIRECTORY}/redpanda.yaml`;
const COPY_BOOTSTRAP = `cp ${SOURCE_DIRECTORY}/bootstrap.yaml ${CONFIG_DIRECTORY}/.bootstrap.yaml`;

/** Each broker takes its own file. It is copied, because the program that starts Redpanda may write to it. */
export function configureScript(need: PlaceNeed | undefined): string {
  if (need === undefined) return [`cp ${SOURCE} ${CONFIG}`, COPY_BOOTSTRAP].join(' && ');
  return `set -u
trap 'exit 143' TERM INT
annotations=${POD_DIRECTORY}/annotations
${TOLD_POD}${need === 'nodeAddress' ? TAKE_ADDRESS : TAKE_HOST_IP}
sed "s/${PLACE_TOKENS[need]}/$value/g" ${SOURCE} > ${CONFIG} && ${COPY_BOOTSTRAP}
`;
}

const TAKE_ADDRESS = `wait_for_annotation ${NODE_ANNOTATIONS.address} '.:-'`;

/** Colons cannot be in a name. */
const TAKE_HOST_IP = `value=$HOST_IP
case $value in
  '' | *[!0-9.]*) refuse "BadHostIP: the node's address '$value' is no IPv4 address, and cannot be a part of the broker's name" ;;
esac`;
