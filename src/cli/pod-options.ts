/** Options about where pods run and how their images are fetched, in the words of the fields that they become. */
import { InvalidArgumentError, Option } from 'commander';
import type { Toleration } from '../control/install/manifests.ts';
import { parseList } from './arguments.ts';

/** The `--image-pull-secrets` option. */
export const pullSecretsOption = (): Option =>
  new Option('--image-pull-secrets <list>', 'Secrets that the operator’s image is pulled with').argParser(
    (text: string) => parseList(text).map((name) => ({ name })),
  );

/** The `--node-selector` option. */
export const nodeSelectorOption = (): Option =>
  new Option(
    '--node-selector <list>',
    'labels of the nodes that the operator runs on, as disk=ssd',
  ).argParser(parseLabels);

/** The `--toleration` option. */
export const tolerationOption = (): Option =>
  new Option(
    '--tolerations <list>',
    'taints of nodes that the operator may run on all the same, as dedicated=kafka:NoSchedule',
  ).argParser((text: string) => parseList(text).map(parseToleration));

/** Reads `key=value,…`. */
function parseLabels(text: string): Record<string, string> {
  const labels = parseList(text).map((one) => /^([^=]+)=([^=]*)$/.exec(one)?.slice(1));
  if (labels.some((one) => one === undefined)) throw new InvalidArgumentError('labels, as in disk=ssd.');
  return Object.fromEntries(labels as [string, string][]);
}

/** Reads `key=value:Effect` as kubectl writes taints; without a value any will do, without an effect all. */
function parseToleration(text: string): Toleration {
  const [, key, value, effect] =
    /^([^=:]+)(?:=([^=:]*))?(?::(NoSchedule|PreferNoSchedule|NoExecute))?$/.exec(text) ?? [];
  if (key === undefined)
    throw new InvalidArgumentError(`"${text}" is no taint, as dedicated=kafka:NoSchedule is.`);
  return {
    key,
    ...(value === undefined ? { operator: 'Exists' } : { operator: 'Equal', value }),
    ...(effect !== undefined && { effect }),
  };
}
