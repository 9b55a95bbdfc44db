/** Listeners of a state outside of React: `subscribe` fits `useSyncExternalStore`; call `tell` after each change. */
export function createListeners() {
  const all = new Set<() => void>();
  return {
    subscribe(listener: () => void): () => void {
      all.add(listener);
      return () => all.delete(listener);
    },
    tell(): void {
      for (const listener of all) listener();
    },
  };
}
