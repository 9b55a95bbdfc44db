// Reads the memory of processes and their children (PSS) from /proc.
import { readdirSync, readFileSync } from 'node:fs';

const read = (path: string) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** Memory of processes and all their children as PSS (shared pages are divided), in MB. */
export function memoryOf(pids: readonly number[]): number {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map((name) => ({ pid: Number(name), parent: Number(/^PPid:\t(\d+)$/mu.exec(read(`/proc/${name}/status`))?.[1] ?? 0) }));
  const all = new Set(pids);
  for (let before = 0; before !== all.size; ) {
    before = all.size;
    for (const { pid, parent } of parents) if (all.has(parent)) all.add(pid);
  }
  const kilobytes = [...all].map((pid) => Number(/^Pss: +(\d+) kB$/mu.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0));
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1024;
}

/** Memory of a server in MB: the main process, its part without file mappings, and all engine processes together; and the number of engine processes. */
export function memoryByKind(pid: number): { main_mb: number; own_mb: number; engines_mb: number; engines: number } {
  const engines = readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .filter((name) => Number(/^PPid:\t(\d+)$/mu.exec(read(`/proc/${name}/status`))?.[1] ?? 0) === pid)
    .filter((name) => read(`/proc/${name}/cmdline`).includes('yara-process'))
    .map(Number);
  const kilobytes = (name: string) =>
    Number(new RegExp(`^${name}: +(\\d+) kB$`, 'mu').exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0);
  return {
    main_mb: kilobytes('Pss') / 1024,
    own_mb: kilobytes('Anonymous') / 1024,
    engines_mb: engines.length === 0 ? 0 : memoryOf(engines),
    engines: engines.length,
  };
}
