import { join } from 'node:path';
import { z } from 'zod';
import type { LinkState } from '#link/link.ts';
import { showWhole } from './store.ts';

/** Contents of the status file, which `palisade-agent status` reads. */
export const statusSchema = z.object({
  link: z.string(),
  reason: z.string(),
  device_name: z.string(),
  applied_rev: z.int(),
  firewall: z.string(),
  at: z.string(),
});

/** The status file of a running agent. */
export class AgentStatus {
  readonly #path: string;
  readonly #log: (line: string) => void;
  #status: z.infer<typeof statusSchema>;

  /** @param run folder of the agent's runtime files */
  constructor(run: string, device_name: string, log: (line: string) => void) {
    this.#path = join(run, 'status.json');
    this.#log = log;
    this.#status = { link: 'connecting', reason: '', device_name, applied_rev: 0, firewall: '', at: '' };
  }

  /** Stores a changed connection state; the next `show` writes it to the file. */
  hear(link: LinkState, reason: string): void {
    if (this.#status.link !== link) this.#log(`${link}${reason === '' ? '' : `: ${reason}`}`);
    this.#status = { ...this.#status, link, reason };
  }

  show(now: { applied_rev: number; firewall: string }): void {
    this.#status = { ...this.#status, ...now, at: new Date().toISOString() };
    showWhole(this.#path, JSON.stringify(this.#status));
  }
}
