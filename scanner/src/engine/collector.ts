/**
 * Collects garbage of files or calls once there is enough of it. Memory that remains after a collection is not counted again: otherwise a process slightly above the
 * threshold would collect after each file, and small files take a tenth of that time. @param read reads the memory in use, in bytes @param worth_while growth in bytes that
 * triggers a collection @returns a function to call after each file, which returns the memory in use after a collection
 */
export function createCollector(read: () => number, collect: () => void, worth_while: number): () => number | undefined {
  let left = read();
  return () => {
    const held = read();
    left = Math.min(left, held);
    if (held - left < worth_while) return undefined;
    collect();
    left = read();
    return left;
  };
}
