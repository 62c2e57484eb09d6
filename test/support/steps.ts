/** What methods of all texts or lists have to go through, at most, while this is done: no clock is asked, so a slow machine counts the same. */
export function stepsDuring(
  prototype: Record<string, unknown>,
  names: readonly string[],
  work: () => void,
): number {
  let steps = 0;
  const before = names.map((name) => [name, Object.getOwnPropertyDescriptor(prototype, name)!] as const);
  for (const [name, descriptor] of before) {
    const method = descriptor.value as (...given: unknown[]) => unknown;
    const value = function counted(this: { length: number }, ...given: unknown[]) {
      steps += this.length;
      return method.apply(this, given);
    };
    Object.defineProperty(prototype, name, { ...descriptor, value });
  }
  try {
    work();
  } finally {
    for (const [name, descriptor] of before) Object.defineProperty(prototype, name, descriptor);
  }
  return steps;
}
