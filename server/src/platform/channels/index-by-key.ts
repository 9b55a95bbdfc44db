/** Sets of members by key; a key without members is removed. */
export interface IndexByKey<T> {
  add(key: string, member: T): void;
  remove(key: string, member: T): void;
  of(key: string): ReadonlySet<T>;
}

export function createIndexByKey<T>(): IndexByKey<T> {
  const sets = new Map<string, Set<T>>();
  const nobody: ReadonlySet<T> = new Set();
  return {
    add(key, member) {
      const set = sets.get(key);
      if (set === undefined) sets.set(key, new Set([member]));
      else set.add(member);
    },
    remove(key, member) {
      const set = sets.get(key);
      set?.delete(member);
      if (set?.size === 0) sets.delete(key);
    },
    of: (key) => sets.get(key) ?? nobody,
  };
}
