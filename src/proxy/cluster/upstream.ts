import { connect as connectPlain, isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';
import { messageOf } from '../../ops/errors.ts';
import type { Address, ClientTls, TargetConfig } from '../config/model.ts';
import { contextOptions } from '../config/tls-context.ts';
import { Connection } from '../net/connection.ts';
import { lookupOf } from '../../ops/outbound.ts';
import { createTargetPolicy } from '../net/target-policy.ts';
import type { ClusterStats } from './stats.ts';
import { addressText } from './topology.ts';
import type { Topology } from './topology.ts';

/** An established connection to a broker; nobody listens to its events yet. */
export interface BrokerConnection {
  connection: Connection;
  address: Address;
  /** Connected to any broker because nobody knows yet where the wanted one is. */
  guessed: boolean;
}

/** Opens connections to the brokers of one target cluster. */
export interface Upstream {
  /** To the node, or to any broker. Rejects with a reason that says what was tried. */
  open(node: number | undefined, timeoutMs: number): Promise<BrokerConnection>;
}

/** Asks the other workers where a node is. */
export type LookUp = (node: number) => Promise<Address | undefined>;

export function createUpstream(
  target: TargetConfig,
  topology: Topology,
  stats: ClusterStats,
  lookUp: LookUp,
): Upstream {
  const dial = dialer(target.tls);
  const policy = createTargetPolicy(
    target.policy,
    target.bootstrapServers.map(({ host }) => host),
  );
  const checksBootstrap = target.policy?.bootstrap === 'checked';
  let turn = target.selection === 'random' ? Math.floor(Math.random() * 1000) : 0;

  async function attempt(
    address: Address,
    timeoutMs: number,
    checked: boolean,
  ): Promise<Omit<BrokerConnection, 'guessed'>> {
    stats.upstreamConnects.value += 1;
    try {
      const lookup = checked ? lookupOf(await policy.resolve(address.host)) : undefined;
      return { ...(await dial(address, timeoutMs, lookup)), address };
    } catch (error) {
      stats.upstreamErrors.value += 1;
      throw new Error(`${addressText(address)}: ${messageOf(error)}`, { cause: error });
    }
  }

  async function any(timeoutMs: number): Promise<Omit<BrokerConnection, 'guessed'>> {
    const servers = target.bootstrapServers;
    const first = target.selection === 'random' ? Math.floor(Math.random() * servers.length) : turn++;
    const failures: string[] = [];
    for (let i = 0; i < servers.length; i++) {
      try {
        return await attempt(servers[(first + i) % servers.length]!, timeoutMs, checksBootstrap);
      } catch (error) {
        failures.push(messageOf(error));
      }
    }
    throw new Error(`no bootstrap server is reachable (${failures.join('; ')})`);
  }

  return {
    async open(node, timeoutMs) {
      if (node === undefined) return { ...(await any(timeoutMs)), guessed: false };
      const address = topology.addressOf(node) ?? (await lookUp(node));
      if (!address) return { ...(await any(timeoutMs)), guessed: true };
      try {
        return { ...(await attempt(address, timeoutMs, true)), guessed: false };
      } catch (error) {
        topology.forget(node, address);
        throw error;
      }
    },
  };
}

type Dial = (
  address: Address,
  timeoutMs: number,
  lookup: LookupFunction | undefined,
) => Promise<{ connection: Connection }>;

function dialer(tls: ClientTls | undefined): Dial {
  const secureContext = tls && createSecureContext(contextOptions(tls.key, tls.trust, tls.rules));
  return ({ host, port }, timeoutMs, lookup) => {
    const connection = new Connection();
    const options = {
      host,
      port,
      noDelay: true,
      allowHalfOpen: true,
      ...(lookup && { lookup }),
    };
    const socket = secureContext
      ? connectTls({
          ...options,
          secureContext,
          rejectUnauthorized: !tls?.insecure,
          ...(isIP(host) ? {} : { servername: host }),
        })
      : connectPlain({ ...options, onread: connection.onread() });
    const { promise, resolve, reject } = Promise.withResolvers<{ connection: Connection }>();
    const timer = setTimeout(() => {
      socket.destroy(new Error(`connect timed out after ${timeoutMs} ms`));
    }, timeoutMs);
    const failed = (error: Error) => {
      clearTimeout(timer);
      reject(error);
    };
    socket.once('error', failed);
    socket.once(secureContext ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      socket.off('error', failed);
      connection.attach(socket);
      resolve({ connection });
    });
    return promise;
  };
}
