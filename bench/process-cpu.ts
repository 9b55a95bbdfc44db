import { readdirSync, readFileSync } from 'node:fs';

/** CPU time of all threads of a process, in µs. */
export function cpuOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const of = (thread: string) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return threads.reduce((sum, thread) => sum + of(thread), 0) / 1_000;
}
