import type { AvroType } from '../../../kafka/values/avro-schema.ts';
import type { Replacement } from '../../../kafka/values/avro-walk.ts';
import { maskOf } from './avro-mask.ts';
import type { Mask } from './avro-mask.ts';
import type { Path } from './json.ts';

export interface Plan {
  /** Undefined if values of the schema have none of the fields. */
  replacement: Replacement | undefined;
  /** The paths that lead to something. */
  reached: ReadonlySet<Path>;
}

/** A field that cannot be masked. */
export class UnmaskableField extends Error {
  readonly path: Path;
  constructor(path: Path, why: string) {
    super(why);
    this.path = path;
  }
}

/** A path that has been followed for some steps. */
interface Way {
  path: Path;
  done: number;
}

/** What may still be done to plan the masks of a configuration: a schema that leads to itself has no end of places to look at. */
export interface Effort {
  left: number;
}

const IS_PLACE = /^(0|[1-9]\d*)$/;

const hasParts = ({ kind }: AvroType): boolean =>
  kind === 'union' || kind === 'record' || kind === 'array' || kind === 'map';

/** The ways that a step takes further, one step further. */
const further = (ways: readonly Way[], step: string): Way[] =>
  ways
    .filter(({ path, done }) => path[done] === '*' || path[done] === step)
    .map(({ path, done }) => ({ path, done: done + 1 }));

/** What is replaced in values of this type so that these fields are masked. Unions are passed without a step. Throws UnmaskableField. */
export function planMasks(root: AvroType, paths: readonly Path[], mask: Mask, effort: Effort): Plan {
  const reached = new Set<Path>();
  /** What was planned, by type and ways: types are met again and again. */
  const known = new Map<AvroType, Map<string, Replacement | undefined>>();
  const number = new Map(paths.map((path, i) => [path, i]));

  function charge(steps: number, path: Path): void {
    effort.left -= steps;
    if (effort.left < 0)
      throw new UnmaskableField(path, 'takes too many steps through the schemas, with all fields before it');
  }

  function plan(type: AvroType, ways: readonly Way[]): Replacement | undefined {
    if (ways.length === 0) return undefined;
    charge(ways.length, ways[0]!.path);
    if (!hasParts(type)) return make(type, ways);
    const key = ways.map(({ path, done }) => `${number.get(path)}:${done}`).join();
    const ofType = known.get(type) ?? new Map<string, Replacement | undefined>();
    known.set(type, ofType);
    if (!ofType.has(key)) ofType.set(key, make(type, ways));
    return ofType.get(key);
  }

  function make(type: AvroType, ways: readonly Way[]): Replacement | undefined {
    const whole = ways.filter(({ path, done }) => done === path.length);
    const onward = ways.filter(({ path, done }) => done < path.length);
    const inner = partsOf(type, onward);
    if (whole.length === 0) return inner;
    for (const way of whole) reached.add(way.path);
    const { path } = whole[0]!;
    const by = maskOf(type, mask, (steps) => charge(steps, path));
    if (typeof by === 'string') throw new UnmaskableField(path, by);
    return { by };
  }

  function partsOf(type: AvroType, ways: readonly Way[]): Replacement | undefined {
    if (ways.length === 0) return undefined;
    if (type.kind === 'union')
      return named(type.branches.map((branch, i) => [String(i), plan(branch, ways)]));
    if (type.kind === 'record')
      return named(type.fields.map((field) => [field.name, plan(field.type, follow(ways, field.name))]));
    if (type.kind !== 'array' && type.kind !== 'map') return undefined;
    const steps = new Set(ways.map(({ path, done }) => path[done]!));
    steps.delete('*');
    const places = [...steps].filter((step) => type.kind === 'map' || IS_PLACE.test(step));
    return named(
      places.map((step) => [step, plan(type.items, follow(ways, step))]),
      plan(type.items, follow(ways, '*')),
    );
  }

  function follow(ways: readonly Way[], step: string): Way[] {
    charge(ways.length, ways[0]!.path);
    return further(ways, step);
  }
  return {
    replacement: plan(
      root,
      paths.map((path) => ({ path, done: 0 })),
    ),
    reached,
  };
}

/** Undefined if there is nothing to replace. */
function named(
  parts: readonly [string, Replacement | undefined][],
  others?: Replacement,
): Replacement | undefined {
  const found = parts.filter((each): each is [string, Replacement] => each[1] !== undefined);
  return found.length > 0 || others ? { parts: new Map(found), others } : undefined;
}
