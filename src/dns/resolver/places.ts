/** Places for a bounded number, each taken in several names: of the domain that is asked for, of the client that asks. */
export interface Places {
  readonly taken: number;
  /** Whether there is one for somebody with these names. */
  hasRoomFor(names: readonly string[]): boolean;
  take(names: readonly string[]): void;
  leave(names: readonly string[]): void;
}

/** While half of all are taken, nobody gets one who has `share` of them already: who is slow must not keep out the others. */
export function createPlaces(most: number, share: number): Places {
  const byName = new Map<string, number>();
  let taken = 0;

  function count(names: readonly string[], step: 1 | -1): void {
    taken += step;
    for (const name of names) {
      const left = (byName.get(name) ?? 0) + step;
      if (left > 0) byName.set(name, left);
      else byName.delete(name);
    }
  }

  return {
    get taken() {
      return taken;
    },
    hasRoomFor(names) {
      if (taken < most / 2) return true;
      return taken < most && names.every((name) => (byName.get(name) ?? 0) < share);
    },
    take: (names) => count(names, 1),
    leave: (names) => count(names, -1),
  };
}
