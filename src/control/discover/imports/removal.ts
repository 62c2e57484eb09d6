/** Takes out again what an installation has imported, and the node ports that it has made for exports: nothing that is not its own. */
import type { Clock } from '../../../kube/clock.ts';
import type { Client } from '../../../kube/http/client.ts';
import { createWriter } from '../../../kube/write/apply.ts';
import type { Summary } from '../../../kube/write/apply.ts';
import { aborted } from '../../../ops/abort.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import { serviceImport } from '../../../resources/multicluster/service-import.ts';
import { MANAGED_BY, SIGNATURE } from '../../kernel/field-manager.ts';
import { INSTALLATION_LABEL } from '../names.ts';
import { ENDPOINT_SLICE, SERVICE } from '../objects.ts';

/** In which version a cluster has the kind need not be known: one that it does not serve has no objects. */
const { group, kind, versions } = serviceImport;
const KINDS = [SERVICE, ...versions.map((version) => ({ group, kind, version })), ENDPOINT_SLICE];

/** Deletes the objects of an installation, which is known by its namespace. */
export async function removeImports(
  client: () => Client,
  installation: string,
  signal?: AbortSignal,
): Promise<Pick<Summary, 'deleted' | 'errors'>> {
  const writer = createWriter(() => ({ client: client() }), SIGNATURE);
  const labels = { [INSTALLATION_LABEL]: installation, ...MANAGED_BY };
  return writer.apply({ owner: { labels, kinds: KINDS }, objects: [], ...(signal && { signal }) });
}

export interface RemovalOptions {
  client: () => Client;
  installation: string;
  log: Log;
  clock: Clock;
}

const RETRY_MS = 60_000;

/** The leader's work where services are no longer imported. It lasts until the signal is aborted, since its end would be that of the lead. */
export async function removeImportsOnce(options: RemovalOptions, signal: AbortSignal): Promise<void> {
  const { client, installation, log, clock } = options;
  while (!signal.aborted) {
    const { deleted, errors } = await removeImports(client, installation, signal);
    const [first] = errors;
    if (deleted.length > 0) log.info({ objects: deleted.length }, 'imports removed');
    if (!first) return aborted(signal);
    const { object, error } = first;
    log.warn({ object, problem: messageOf(error), left: errors.length }, 'imports cannot be removed');
    await clock.wait(RETRY_MS, signal);
  }
}
