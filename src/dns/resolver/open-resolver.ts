import { readFileSync } from 'node:fs';
import { messageOf } from '../../ops/errors.ts';
import { exchange } from './exchange.ts';
import { nameserversOf } from './resolv-conf.ts';
import { createResolver } from './resolver.ts';
import { createSearchName, setSearchName } from '../wire/search-name.ts';
import { createOutsideAnswers } from '../zone/outside.ts';
import { findZone } from '../zone/zones.ts';
import type { Log } from '../../ops/log.ts';
import type { ResolverAddress } from './exchange.ts';
import type { Resolver, ResolverOptions } from './resolver.ts';
import type { Zones } from '../zone/zones.ts';

/** Those of the system, none, or these. */
export type ResolverChoice = 'system' | 'none' | readonly ResolverAddress[];

const RESOLV_CONF = '/etc/resolv.conf';

/** The resolver that the configuration names; undefined if it names none. Its answers go to `publish`. */
export function openResolver(
  resolver: ResolverChoice | undefined,
  zones: Zones,
  log: Log,
  publish: ResolverOptions['publish'],
): Resolver | undefined {
  const servers = resolver === 'system' ? systemServers(log) : resolver;
  if (servers === undefined || servers === 'none' || servers.length === 0) return undefined;
  const known = createOutsideAnswers();
  zones.outside = known;
  const search = createSearchName();
  const now = () => Math.floor(Date.now() / 1000);
  // Our own zones may be delegated to us by this very resolver: it is never asked about them.
  const isOurs = (name: string) => {
    setSearchName(search, name);
    return findZone(zones, search) !== undefined;
  };
  return createResolver({ servers, exchange, known, isOurs, publish, now });
}

function systemServers(log: Log): ResolverAddress[] {
  try {
    const servers = nameserversOf(readFileSync(RESOLV_CONF, 'utf8'));
    if (servers.length > 0) return servers;
    log.warn(
      { file: RESOLV_CONF },
      'no name server in resolv.conf, aliases are not followed out of our zones',
    );
  } catch (error) {
    const problem = messageOf(error);
    log.warn(
      { file: RESOLV_CONF, problem },
      'resolv.conf unreadable, aliases are not followed out of our zones',
    );
  }
  return [];
}
