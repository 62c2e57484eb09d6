import { createTokens } from './tokens.ts';
import type { Tokens } from './tokens.ts';

/**
 * The original's rule language:
 *
 *     from io.kroxylicious.filter.authorization import TopicResource as Topic;
 *     deny User with name = "eve" to * Topic with name *;
 *     allow User with name in {"alice", "bob"} to {READ, DESCRIBE} Topic with name like "orders-*";
 *     otherwise deny;
 *
 * Denials come first, and count first. Types of resources that are not imported are not looked at.
 */

export const RESOURCES = ['TopicResource', 'GroupResource', 'TransactionalIdResource'] as const;
export type ResourceType = (typeof RESOURCES)[number];

/** Kafka's, as far as they are about these resources. */
export const OPERATIONS = [
  'READ',
  'WRITE',
  'CREATE',
  'DELETE',
  'ALTER',
  'DESCRIBE',
  'DESCRIBE_CONFIGS',
  'ALTER_CONFIGS',
] as const;
export type Operation = (typeof OPERATIONS)[number];

/** Whether a name fits. */
type NameTest = (name: string) => boolean;

interface Rule {
  user: NameTest;
  operations: ReadonlySet<Operation>;
  resource: ResourceType;
  name: NameTest;
}

/** What a text of rules says. */
export interface Rules {
  /** The types of resources that it is about; all others are free. */
  types: ReadonlySet<ResourceType>;
  denials: readonly Rule[];
  allowances: readonly Rule[];
}

const MOST_RULES = 10_000;
const PACKAGE = 'io.kroxylicious.filter.authorization';

/** Reads rules; throws with the line and what is wrong there. */
export function parseRules(text: string): Rules {
  const tokens = createTokens(text);
  if (tokens.take('version')) {
    tokens.word();
    tokens.expect(';');
  }
  const imports = new Map<string, ResourceType>();
  while (tokens.is('from') || tokens.is('import')) readImport(tokens, imports);
  const denials: Rule[] = [];
  const allowances: Rule[] = [];
  while (tokens.take('deny')) denials.push(readRule(tokens, imports));
  while (tokens.take('allow')) allowances.push(readRule(tokens, imports));
  if (tokens.is('deny')) tokens.fail('deny has to stand before every allow');
  tokens.expect('otherwise');
  tokens.expect('deny');
  tokens.expect(';');
  if (!tokens.atEnd()) tokens.fail('nothing can stand behind "otherwise deny;"');
  if (denials.length + allowances.length > MOST_RULES) tokens.fail(`more than ${MOST_RULES} rules`);
  return { types: new Set(imports.values()), denials, allowances };
}

/** `from PACKAGE import NAME [as LOCAL];`, or with the package last, as it once was. */
function readImport(tokens: Tokens, imports: Map<string, ResourceType>): void {
  const isPackageFirst = tokens.take('from');
  let from = isPackageFirst ? readPackage(tokens) : '';
  tokens.expect('import');
  const name = tokens.word();
  const local = tokens.take('as') ? tokens.word() : name;
  if (!isPackageFirst) {
    tokens.expect('from');
    from = readPackage(tokens);
  }
  tokens.expect(';');
  if (name === 'User') return;
  const type = RESOURCES.find((each) => each === name);
  if (!type || from !== PACKAGE)
    return tokens.fail(`${from}.${name} is not one of ${RESOURCES.join(', ')} of ${PACKAGE}`);
  if (imports.has(local)) tokens.fail(`${local} is imported twice`);
  imports.set(local, type);
}

function readPackage(tokens: Tokens): string {
  const parts = [tokens.word()];
  while (tokens.take('.')) parts.push(tokens.word());
  return parts.join('.');
}

function readRule(tokens: Tokens, imports: ReadonlyMap<string, ResourceType>): Rule {
  const type = tokens.word();
  if (type !== 'User') tokens.fail(`${type} is no type of principals: there is only User`);
  const user = readName(tokens);
  tokens.expect('to');
  const operations = readOperations(tokens);
  const local = tokens.word();
  const resource = imports.get(local) ?? tokens.fail(`${local} is not imported`);
  const name = readName(tokens);
  tokens.expect(';');
  return { user, operations, resource, name };
}

function readOperations(tokens: Tokens): ReadonlySet<Operation> {
  if (tokens.take('*')) return new Set(OPERATIONS);
  const one = (): Operation => {
    const word = tokens.word();
    return (
      OPERATIONS.find((each) => each === word) ??
      tokens.fail(`${word} is not one of ${OPERATIONS.join(', ')}`)
    );
  };
  return new Set(tokens.is('{') ? tokens.list(one) : [one()]);
}

/** `with name …`. */
function readName(tokens: Tokens): NameTest {
  tokens.expect('with');
  tokens.expect('name');
  if (tokens.take('*')) return () => true;
  if (tokens.take('=')) {
    const wanted = tokens.text();
    return (name) => name === wanted;
  }
  if (tokens.take('in')) {
    const wanted = new Set(tokens.list(() => tokens.text()));
    return (name) => wanted.has(name);
  }
  if (tokens.take('like')) return likeTest(tokens.text());
  // Names come from anybody, and there are expressions that take for ever.
  if (tokens.is('matching')) return tokens.fail('regular expressions are not supported: use like');
  return tokens.fail('a name has to follow: *, = "…", in {"…"} or like "…"');
}

/** `*` stands for any characters. */
function likeTest(pattern: string): NameTest {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return (name) => name === pattern;
  return (name) => {
    if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
      return false;
    let at = first.length;
    for (const part of rest) {
      const found = name.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at <= name.length - last.length;
  };
}

/** What else an operation gives the right to, as in Kafka. A denial of an operation is of that one alone. */
const IMPLIES: { [Each in Operation]?: Operation } = {
  READ: 'DESCRIBE',
  WRITE: 'DESCRIBE',
  DELETE: 'DESCRIBE',
  ALTER: 'DESCRIBE',
  ALTER_CONFIGS: 'DESCRIBE_CONFIGS',
};

/** What rules say of one user. */
export interface UserRules {
  /** How many there are. */
  size: number;
  may(operation: Operation, resource: ResourceType, name: string): boolean;
}

/** The rules that are about a user; of one of whom nothing is known, none is. */
export function rulesOfUser({ types, denials, allowances }: Rules, user: string | undefined): UserRules {
  const isAbout = (rule: Rule) => user !== undefined && rule.user(user);
  const denied = Map.groupBy(denials.filter(isAbout).flatMap(testsOf), ({ key }) => key);
  const allowed = Map.groupBy(
    allowances
      .filter(isAbout)
      .map((rule) => ({ ...rule, operations: withImplied(rule.operations) }))
      .flatMap(testsOf),
    ({ key }) => key,
  );
  const fits = (tests: ReadonlyMap<string, { name: NameTest }[]>, key: string, name: string) =>
    tests.get(key)?.some((test) => test.name(name)) ?? false;
  return {
    size: denials.length + allowances.length,
    may(operation, resource, name) {
      const key = keyOf(operation, resource);
      return !types.has(resource) || (!fits(denied, key, name) && fits(allowed, key, name));
    },
  };
}

const keyOf = (operation: Operation, resource: ResourceType) => `${operation} ${resource}`;

const withImplied = (operations: ReadonlySet<Operation>) =>
  new Set([...operations].flatMap((each) => [each, ...(IMPLIES[each] ? [IMPLIES[each]] : [])]));

const testsOf = ({ operations, resource, name }: Rule) =>
  [...operations].map((operation) => ({ key: keyOf(operation, resource), name }));
