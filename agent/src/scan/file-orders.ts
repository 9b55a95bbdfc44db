import type { DeviceEvent, FileOrder } from '@palisade/contract/agent';
import { lineOf } from '#agent/line.ts';
import { type Stats, statForeign } from '#files/foreign.ts';
import type { FoundFiles } from './found-files.ts';
import type { Quarantine } from './quarantine.ts';
import { isUnchanged, LINE_LENGTH } from './scan-file.ts';
import type { FoundFile } from './walk.ts';

const RESTORED_MAXIMUM = 1_000;

export interface FileOrdersParts {
  quarantine: Quarantine;
  found_files: FoundFiles;
  happened: (event: DeviceEvent) => void;
  /** Whether the result of an order is reported but not yet confirmed by the server. */
  isSaid: (order_id: string) => boolean;
  log: (line: string) => void;
}

/** Restores and deletes quarantined files on orders of the server, each order once. */
export class FileOrders {
  readonly #parts: FileOrdersParts;
  readonly #begun = new Set<string>();
  /** State of restored files at the time of the restoration, by path. */
  readonly #restored = new Map<string, Stats>();

  constructor(parts: FileOrdersParts) {
    this.#parts = parts;
  }

  want(orders: readonly FileOrder[]): void {
    for (const order of orders) {
      if (this.#begun.has(order.id) || this.#parts.isSaid(order.id)) continue;
      this.#begun.add(order.id);
      void this.#carryOut(order).catch((error: unknown) => this.#parts.log(String(error)));
    }
  }

  /** Whether this file was restored here and has not changed since. */
  isRestored({ path, stats }: FoundFile): boolean {
    const known = this.#restored.get(path.toString('latin1'));
    return known !== undefined && isUnchanged(stats, known);
  }

  async #carryOut({ id, finding_id, action }: FileOrder): Promise<void> {
    const { quarantine, found_files, happened } = this.#parts;
    const result = action === 'restore' ? await quarantine.restore(finding_id) : { ok: true as const, path: undefined };
    if (result.ok && result.path !== undefined) await this.#rememberRestored(result.path);
    if (action === 'delete') {
      await quarantine.remove(finding_id);
      await found_files.forget(finding_id);
    }
    happened({
      event: 'order_done',
      order_id: id,
      ok: result.ok,
      message: result.ok ? null : lineOf(result.reason, LINE_LENGTH),
    });
  }

  /** Stores the state of a restored file, so that watching does not quarantine it again. */
  async #rememberRestored(path: Buffer): Promise<void> {
    const stats = await statForeign(path);
    if (stats === undefined) return;
    this.#restored.set(path.toString('latin1'), stats);
    for (const [oldest] of this.#restored) if (this.#restored.size > RESTORED_MAXIMUM) this.#restored.delete(oldest);
  }
}
