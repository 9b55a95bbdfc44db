/** From this growth on it is worth while to collect what files have left. Bytes. */
const WORTH_WHILE = 32 * 1024 ** 2;

/**
 * Puts away what files have left once there is enough of it. What stays after that is not asked for again: a process that keeps a little more than the bound would collect
 * after each file, and small files take a tenth of that time.
 *
 * @param read what the process holds, in bytes
 * @returns looks after a file; answers what is held where it was collected
 */
export function createCollector(read: () => number, collect: () => void): () => number | undefined {
  let left = read();
  return () => {
    const held = read();
    left = Math.min(left, held);
    if (held - left < WORTH_WHILE) return undefined;
    collect();
    left = read();
    return left;
  };
}
