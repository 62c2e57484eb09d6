/** The forms that names, hosts and ports have. */
import { z } from 'zod';
import { text, withRules } from '../schema.ts';

/** The name of another object. */
export const objectName = text(253, {
  matching: /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/,
  otherwise: "write the name of an object: lower-case letters, digits, '-' and '.'",
});

/** One label of a DNS name: namespaces, sections, and names that become part of a host name. */
export const dnsLabel = text(63, {
  matching: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  otherwise: "write lower-case letters, digits and '-' only, beginning and ending with a letter or digit",
});

/** A TCP port. */
export const port = z.int().min(1).max(65_535);

const HOST = String.raw`(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)`;
const PORT = '([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])';

const BOOTSTRAP = new RegExp(`^${HOST}:${PORT}(,${HOST}:${PORT})*$`);

/** Asks for a Kafka to be started on the spot. Only a machine that runs resources from files can; a cluster refuses it. */
export const EMBEDDED = 'embedded';

/** Where a Kafka client begins: one address, or several separated by commas. */
export const bootstrapServers = withRules(z.string().min(1).max(1024), {
  cel: `self.matches(r'${BOOTSTRAP.source}')`,
  holds: (value) => value === EMBEDDED || BOOTSTRAP.test(value),
  message:
    'write host:port, e.g. kafka.example.com:9092; several addresses are separated by commas, no spaces',
});

const NODE_ID = '$(nodeId)';
const VIRTUAL_CLUSTER = '$(virtualClusterName)';
/** How the first design document spells it, and therefore some users do. */
const VIRTUAL_CLUSTER_MISSPELT = '$(vitrtualClusterName)';
const TOKEN = /(\$\([A-Za-z]+\))/;

const hostPattern = text(253, {
  matching: /^([-A-Za-z0-9.]|\$\((nodeId|virtualClusterName|vitrtualClusterName)\))+$/,
  otherwise:
    'write a host name without a port; it may contain $(virtualClusterName), and for brokers $(nodeId), but nothing else in $()',
});

/** The host name that a client begins at, one for each virtual cluster. */
export const bootstrapPattern = withRules(hostPattern, {
  cel: `!self.contains('${NODE_ID}')`,
  holds: (pattern) => !pattern.includes(NODE_ID),
  message: `leave ${NODE_ID} out: the bootstrap address belongs to all nodes`,
});

/** The host names of the brokers. */
export const brokerPattern = withRules(hostPattern, {
  cel: `self.split('${NODE_ID}').size() == 2`,
  holds: (pattern) => pattern.split(NODE_ID).length === 2,
  message: `put ${NODE_ID} into the pattern once, e.g. broker-${NODE_ID}.${VIRTUAL_CLUSTER}.example.com: each broker needs a name of its own`,
});

/** One spelling of the tokens, and lower case for the rest, as host names are compared. */
export function normaliseHostPattern(pattern: string): string {
  return pattern
    .replaceAll(VIRTUAL_CLUSTER_MISSPELT, VIRTUAL_CLUSTER)
    .split(TOKEN)
    .map((part) => (TOKEN.test(part) ? part : part.toLowerCase()))
    .join('');
}
