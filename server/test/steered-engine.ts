import { readFile } from 'node:fs/promises';
import type { EngineOutcome, YaraPool } from '@palisade/scanner/yara-pool';
import { createFakeEngine } from './fake-engine.ts';

type Examination = Extract<EngineOutcome, { kind: 'examined' }>['examination'];

interface Steered {
  edition: string | undefined;
  /** Findings beside those of the fake, by the bytes of a file. */
  find: (bytes: Buffer) => Partial<Examination>;
  /** Files that it was given. */
  begun: number;
}

/** The progress that each file makes at once. */
export const HALF_READ = { share: 0.5, members_read: 1, members_found: 2 } as const;

/** The fake engine in the hands of a test: its files wait until they are let go, and its findings and its edition change. */
export function createSteeredEngine() {
  const fake = createFakeEngine();
  const steered: Steered = { edition: undefined, find: () => ({}), begun: 0 };
  let held: PromiseWithResolvers<void> | undefined;
  const editionNow = () => (fake.ready() ? (steered.edition ?? fake.edition()) : undefined);
  const engine: YaraPool = {
    ...fake,
    edition: editionNow,
    async scan(job) {
      const edition = editionNow();
      const { find } = steered;
      steered.begun += 1;
      job.onBegin?.();
      job.onProgress?.({ engine: 'YARA-X', ...HALF_READ });
      const { promise, resolve } = Promise.withResolvers<void>();
      job.signal?.addEventListener('abort', () => resolve(), { once: true });
      if (held !== undefined && job.signal?.aborted !== true) {
        // A file that takes long needs a place for itself.
        job.together?.onLong();
        await Promise.race([held.promise, promise]);
      }
      const outcome = await fake.scan({ ...job, onBegin: undefined });
      if (outcome.kind !== 'examined' || edition === undefined) return outcome;
      const bytes = job.bytes ?? (await readFile(job.path));
      return { ...outcome, edition, examination: { ...outcome.examination, ...find(bytes) } };
    },
  };
  return {
    ...{ engine, steered },
    /** Files wait from now on, until the answer is called. */
    hold(): () => void {
      const holding = Promise.withResolvers<void>();
      held = holding;
      return () => {
        held = undefined;
        holding.resolve();
      };
    },
  };
}

/** The finding in a file that cannot be read whole. */
export const unreadAs = (reason: Examination['unread'][number]): Partial<Examination> => ({ unread: [reason] });
