import type { ChildProcess } from 'node:child_process';
import { relative } from 'node:path';
import type { EngineLog } from './engine-log.ts';
import type { EngineMessage, EngineRequest, FindingMessage } from './messages.ts';

// Engine processes that have nothing to read match for one that has. The server stands between them: it knows who is free, and to whom an answer belongs.

/** What waits for an answer of a process that helps. */
export interface Question<M> {
  asker: M;
  call: number;
  bytes: number;
  timer: NodeJS.Timeout;
}

/** What of an engine process matters here. */
export interface Hand<M> {
  child: Pick<ChildProcess, 'connected' | 'pid' | 'kill'>;
  generation: { members: ReadonlySet<M> };
  facts: unknown;
  current: { waiting: { job: { path: string; folder: string } } } | undefined;
  /** What it matches for another, in order. */
  helping: Question<M>[];
}

/** So much may wait at one process: a file that comes is to wait for no more. One question may be larger. Bytes. */
const WAITING_BYTES_MAXIMUM = 1024 ** 2;
/** A question may be no larger. Bytes. */
const QUESTION_BYTES_MAXIMUM = 24 * 1024 ** 2;
/** Matching that takes longer is a file's that was made for it: whoever asked does it, within the time of its file. ms. */
const ANSWER_MS = 10_000;

/** Whether a process may have this read: its own file, and what it has unpacked. */
function isOwn(asker: Hand<unknown>, path: string): boolean {
  const job = asker.current?.waiting.job;
  if (job === undefined) return false;
  const within = relative(job.folder, path);
  return path === job.path || /^[0-9]+$/.test(within);
}

/** @param cores no more processes than these are at work for it: what is free of a busy machine's processes is no help */
export function createPoolHelp<M extends Hand<M>>(parts: {
  cores: number;
  send: (member: M, request: EngineRequest) => void;
  logger: EngineLog;
}) {
  const { cores, send, logger } = parts;

  function helperFor(asker: M, bytes: number): M | undefined {
    const members = [...asker.generation.members];
    const free = members.filter(
      (member) => member !== asker && member.facts !== undefined && member.current === undefined && member.child.connected,
    );
    const begun = free.find(({ helping }) => {
      const waiting = helping.reduce((sum, question) => sum + question.bytes, 0);
      return helping.length > 0 && waiting + bytes <= WAITING_BYTES_MAXIMUM;
    });
    if (begun !== undefined) return begun;
    const at_work = members.filter(({ current, helping }) => current !== undefined || helping.length > 0).length;
    return at_work < cores ? free.find(({ helping }) => helping.length === 0) : undefined;
  }

  function answer({ asker, call, timer }: Question<M>, findings: FindingMessage[] | null): void {
    clearTimeout(timer);
    if (asker.child.connected) send(asker, { kind: 'helped', call, findings });
  }

  return {
    onAsks(asker: M, { call, path, ranges }: Extract<EngineMessage, { kind: 'asks' }>): void {
      const bytes = ranges.reduce((sum, { length }) => sum + length, 0);
      const helper = isOwn(asker, path) && bytes <= QUESTION_BYTES_MAXIMUM ? helperFor(asker, bytes) : undefined;
      if (helper === undefined) {
        send(asker, { kind: 'helped', call, findings: null });
        return;
      }
      const timer = setTimeout(() => {
        logger.warn({ pid: helper.child.pid, asked_by: asker.child.pid }, 'engine process that helps another takes too long');
        helper.child.kill('SIGKILL');
      }, ANSWER_MS);
      helper.helping.push({ asker, call, bytes, timer });
      send(asker, { kind: 'granted', call });
      send(helper, { kind: 'match', path, ranges });
    },
    onMatched(helper: M, findings: FindingMessage[] | null): void {
      const question = helper.helping.shift();
      if (question !== undefined) answer(question, findings);
    },
    /** Whoever waits for it matches by itself. */
    onExit(helper: M): void {
      for (const question of helper.helping.splice(0)) answer(question, null);
    },
  };
}
