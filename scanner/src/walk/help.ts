import type { Finding } from './examination.ts';

/** Bytes of a file that one process asks another to match. `path`: the name by which rules may ask for them. */
interface MatchRange {
  from: number;
  length: number;
  is_within: boolean;
  path?: string | undefined;
}

/** Outcome of one question. */
interface Asked {
  /** Whether somebody matches it. */
  granted: Promise<boolean>;
  /** One for each range; undefined where nobody could after all. */
  findings: Promise<Finding[] | undefined>;
}

/** Other processes with the same rules. Their findings equal the findings of this process. */
export interface Help {
  /** Whether it is worth while to ask: nobody has refused lately. */
  isLikely(): boolean;
  /** Whether an answer is awaited: then the event loop must come round for it. */
  isBusy(): boolean;
  /** `ranges` of the file at `path`, which must stay as they are until the answer. */
  ask(path: string, ranges: readonly MatchRange[]): Asked;
}
