import type { Finding } from './examination.ts';

/** Bytes of a file that one process asks another to match. `path`: their path, for rules that test it. */
interface MatchRange {
  from: number;
  length: number;
  is_within: boolean;
  path?: string | undefined;
}

/** Outcome of one request. */
interface Asked {
  /** Whether another process accepts it. */
  granted: Promise<boolean>;
  /** One for each range; undefined if no process could match them after all. */
  findings: Promise<Finding[] | undefined>;
}

/** Other processes with the same rules. Their findings equal the findings of this process. */
export interface Help {
  /** Whether a request may be accepted: none was refused lately. */
  isLikely(): boolean;
  /** Whether an answer is pending: the caller must then yield to the event loop to receive it. */
  isBusy(): boolean;
  /** Asks to match `ranges` of the file at `path`, which must not change until the answer. */
  ask(path: string, ranges: readonly MatchRange[]): Asked;
}
