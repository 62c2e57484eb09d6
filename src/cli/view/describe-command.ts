import { Command } from 'commander';
import type { Client } from '../../kube/http/client.ts';
import type { AnyObject } from '../../kube/object.ts';
import { connectionOptions, namespaceOf, namespaceOptions, withClient } from '../kube/connect.ts';
import type { ConnectionFlags, NamespaceFlags } from '../kube/connect.ts';
import type { Terminal } from '../terminal.ts';
import type { EventFacts } from './description.ts';

interface DescribeFlags extends ConnectionFlags, NamespaceFlags {}

const EVENT = { group: 'events.k8s.io', kind: 'Event', versions: ['v1'] };
const MOST_EVENTS = 10;

/** `isthmus describe KIND/NAME`: state, conditions with what to do, events. */
export function describeCommand(terminal: Terminal): Command {
  const command = new Command('describe')
    .description('describe one resource: its state, conditions with what to do about them, and events')
    .argument('<kind>', 'KIND/NAME')
    .argument('[name]', 'its name, if it is not given there');
  return connectionOptions(namespaceOptions(command)).action(
    async (word: string, second: string | undefined, flags: DescribeFlags) => {
      const { parseNamed } = await import('../kube/target.ts');
      const { findObject } = await import('../kube/find.ts');
      const { describeText } = await import('./description.ts');
      const { kind, name } = parseNamed(word, second);
      const { object, events } = await withClient(flags, async (client) => {
        const namespace = namespaceOf(flags, client) ?? client.namespace;
        const object = await findObject(client, kind, { namespace, name });
        return { object, events: await eventsOf(client, object) };
      });
      terminal.out(describeText(object, { kind, events, now: Date.now() }));
    },
  );
}

interface KubeEvent extends AnyObject {
  type?: string;
  reason?: string;
  note?: string;
  eventTime?: string;
  deprecatedLastTimestamp?: string;
  series?: { lastObservedTime?: string };
}

/** The newest events about an object; none where they may not be read. */
async function eventsOf(client: Client, { metadata }: AnyObject): Promise<EventFacts[]> {
  const { listOf, settle } = await import('../kube/read.ts');
  const fieldSelector = `regarding.uid=${metadata.uid}`;
  const read = await settle(listOf(client, EVENT, { namespace: metadata.namespace, fieldSelector }));
  const events = 'value' in read ? (read.value as KubeEvent[]) : [];
  return events
    .map(({ type = '', reason = '', note = '', eventTime, deprecatedLastTimestamp, series }) => ({
      type,
      reason,
      note,
      at: series?.lastObservedTime ?? eventTime ?? deprecatedLastTimestamp,
    }))
    .toSorted((a, b) => ((a.at ?? '') < (b.at ?? '') ? 1 : -1))
    .slice(0, MOST_EVENTS);
}
