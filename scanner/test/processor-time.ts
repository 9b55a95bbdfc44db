import { readFileSync } from 'node:fs';

/** Processor time that a process has used so far (proc(5), stat). Seconds; 0 beyond Linux. */
export function processorTime(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
