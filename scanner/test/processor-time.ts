import { readFileSync } from 'node:fs';

/** Processor time that a process has used so far (proc(5), stat). Seconds; 0 beyond Linux. */
export function processorTime(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Processor time of this process, with all its threads, while `work` runs: other programs of a busy machine are no part of it. Seconds. */
export async function workTime(work: () => unknown): Promise<number> {
  const began = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1e6;
}
