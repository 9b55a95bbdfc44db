/**
 * Puts away what files, or calls, have left once there is enough of it. Memory that remains after a collection does not count again: a process that keeps a little more than the bound would collect
 * after each file, and small files take a tenth of that time.
 *
 * @param read what the process holds, in bytes
 * @param worth_while from which growth on it is collected, in bytes
 * @returns looks after a file; answers what is held where it was collected
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
