import { formatName } from '../wire/name.ts';
import { keyNamed } from './keys.ts';
import { createNotifier } from './notify.ts';
import type { Log } from '../../ops/log.ts';
import type { Name } from '../wire/name.ts';
import type { TsigKey } from '../wire/tsig.ts';
import type { Store } from '../zone/store.ts';
import type { Update } from '../zone/update.ts';
import type { ClientAddress } from '../wire/client-address.ts';
import type { KeySettings } from './keys.ts';
import type { Notifier } from './notify.ts';

/** What a zone's serial stands for. */
export interface ZoneVersion {
  serial: number;
  /** The fingerprint of its records. */
  content: string;
}

/** The versions of zones, where replicas have to show the same: somebody else says which. Zones by their names without last dot. */
export interface ZoneVersions {
  /** The fingerprint of each zone's records, as they are. */
  contents(): ReadonlyMap<string, string>;
  /** Shows a serial from now on. Transfers wait until the records are at least as new as what it stands for. */
  setVersion(zone: string, version: ZoneVersion): void;
  /** Tells secondaries that a zone has changed. */
  announce(zone: string): void;
}

/** What the servers that copy our zones need. */
export interface Secondaries extends ZoneVersions {
  /** Who may transfer zones: by address, or by the key that the query is signed with. */
  readonly transferAllowed: (client: ClientAddress, key: TsigKey | undefined) => boolean;
  /** Whether a zone is what its serial says; if not, nobody may transfer it now. */
  readonly isTransferable: (zone: Name) => boolean;
  /** Takes an update of the zones into account. */
  noteUpdate(update: Update): void;
  readonly counts: Notifier['counts'];
  close(): Promise<void>;
}

export interface SecondariesOptions {
  config: KeySettings & { zones: readonly { name: Name }[] };
  /** Who may transfer zones without a key. */
  isAllowed: (client: ClientAddress) => boolean;
  keys: readonly TsigKey[];
  store: () => Store;
  /** `own`: each change of records makes a serial of its own. `given`: see ZoneVersions. */
  serials: 'own' | 'given';
  log: Log;
}

export function createSecondaries(options: SecondariesOptions): Secondaries {
  const { config, keys, isAllowed, store, serials, log } = options;
  const zones = new Map(config.zones.map(({ name }) => [formatName(name).replace(/(?<=.)\.$/, ''), name]));
  const given = new Map<Name, ZoneVersion>();
  const targets = config.notify.map(({ address, key }) => ({
    ...address,
    key: key === undefined ? undefined : keyNamed(keys, key),
  }));
  const notifier = createNotifier({ targets, log });
  let isReady = false;

  return {
    counts: notifier.counts,
    contents: () => new Map([...zones].map(([text, name]) => [text, store().contentOf(name)])),
    setVersion(zone, version) {
      const name = zones.get(zone);
      if (name === undefined) return;
      given.set(name, version);
      store().setSerial(name, version.serial);
    },
    announce(zone) {
      const name = zones.get(zone);
      if (name !== undefined) notifier.changed(name);
    },
    noteUpdate(update) {
      if (serials === 'given') return;
      if (update.kind === 'ready') isReady = update.ready;
      if (!isReady) return;
      if (update.kind === 'ready') for (const name of zones.values()) notifier.changed(name);
      if (update.kind === 'rrsets')
        for (const name of new Set(update.changes.map(({ zone }) => zone))) notifier.changed(name);
    },
    transferAllowed: (client, key) =>
      key === undefined ? isAllowed(client) : config.transferKeys.includes(key.name),
    isTransferable(zone) {
      if (serials === 'own') return true;
      const version = given.get(zone);
      return version !== undefined && store().hasReached(zone, version.content);
    },
    close: () => notifier.close(),
  };
}
