/** KafkaProtocolFilter: its configuration, in which placeholders stood for files and now stand for what is in them. */
import type { Tell } from './convert.ts';
import { isRecord, without } from './fields.ts';
import type { Fields } from './fields.ts';

const PLACEHOLDER = /^\$\{(secret|configmap):[^:}]+:[^:}]+\}$/;
const isPlaceholder = (value: unknown): value is string =>
  typeof value === 'string' && PLACEHOLDER.test(value);

/** What a field with a path in it is called that has the content instead. */
const CONTENT_OF: Readonly<Record<string, string>> = { passwordFile: 'password', storeFile: 'certificates' };

export function filterSpec(spec: Fields, tell: Tell): Fields {
  if (!('configTemplate' in spec)) return spec;
  return {
    ...without(spec, 'configTemplate'),
    config: converted(spec['configTemplate'], 'spec.config', tell),
  };
}

function converted(value: unknown, where: string, tell: Tell): unknown {
  if (Array.isArray(value)) return value.map((one, at) => converted(one, `${where}[${at}]`, tell));
  if (!isRecord(value)) return value;
  const store = storeOf(value, where, tell);
  return Object.fromEntries(
    Object.entries(store).map(([name, its]) => {
      if (!isPlaceholder(its)) return [name, converted(its, `${where}.${name}`, tell)];
      const content = CONTENT_OF[name];
      if (content !== undefined) return [content, its];
      if (name !== 'certificates')
        tell(
          `${where}.${name}`,
          'a placeholder stands for the value here, not for a file with it, and only where a filter takes a secret: look whether that is meant',
        );
      return [name, its];
    }),
  );
}

/** A store of PEM needs no type and no password any more; another kind cannot be taken. */
function storeOf(value: Fields, where: string, tell: Tell): Fields {
  if (!isPlaceholder(value['storeFile'])) return value;
  const { storeType = 'PEM' } = value;
  if (storeType !== 'PEM')
    tell(`${where}.storeFile`, 'make PEM of the store: certificates are given as text');
  return without(value, 'storeType', 'storePassword');
}
