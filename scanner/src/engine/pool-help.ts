import type { ChildProcess } from 'node:child_process';
import { basename, join } from 'node:path';
import type { EngineLog } from './engine-log.ts';
import type { EngineMessage, EngineRequest, FindingMessage } from './messages.ts';
import { MEMORY_LOOK_MS } from './process-memory.ts';

// Engine processes that have nothing to read match for one that has. The server stands between them: it knows who is free, and to whom an answer belongs.

/** A question that waits for the answer of a helping process. */
export interface Question<M> {
  asker: M;
  call: number;
  bytes: number;
  watch: NodeJS.Timeout;
}

/** Properties of an engine process that helping needs. */
export interface Hand<M> {
  child: Pick<ChildProcess, 'connected' | 'pid' | 'kill'>;
  generation: { members: ReadonlySet<M> };
  facts: unknown;
  current: { waiting: { job: { path: string; folder: string } } } | undefined;
  /** Questions of other processes that it answers, in order. */
  helping: Question<M>[];
}

/** So much may wait at one process: a file that comes is to wait for no more. One question may be larger. Bytes. */
const WAITING_BYTES_MAXIMUM = 1024 ** 2;
/** A question may be no larger. Bytes. */
const QUESTION_BYTES_MAXIMUM = 24 * 1024 ** 2;
/**
 * Matching that takes longer is a file's that was made for it: whoever asked does it, within the time of its file. Shorter than the grace after that time, so that nobody is ended for
 * waiting. ms.
 */
const ANSWER_MS = 4_000;

/** Whether a process may have this read: its own file, and what it has unpacked. */
function isOwn(asker: Hand<unknown>, path: string): boolean {
  const job = asker.current?.waiting.job;
  if (job === undefined) return false;
  const name = basename(path);
  return path === job.path || (/^[0-9]+$/.test(name) && path === join(job.folder, name));
}

/**
 * @param cores no more processes than these are at work for it: what is free of a busy machine's processes is no help
 * @param isWanted whether a file waits for a process: then nothing more is asked of those that have none
 * @param isGrown whether a process holds more than one that reads a file may
 */
export function createPoolHelp<M extends Hand<M>>(parts: {
  cores: number;
  isWanted: () => boolean;
  isGrown: (member: M) => boolean;
  send: (member: M, request: EngineRequest) => void;
  logger: EngineLog;
}) {
  const { cores, isWanted, isGrown, send, logger } = parts;
  /** Files over which a process that helped has ended: they are read alone. */
  const alone = new WeakSet<object>();
  const ended = new WeakSet<M>();

  function helperFor(asker: M, bytes: number): M | undefined {
    if (isWanted() || asker.current === undefined || alone.has(asker.current)) return undefined;
    const members = [...asker.generation.members];
    const free = members.filter(
      (member) => member !== asker && member.facts !== undefined && member.current === undefined && member.child.connected,
    );
    const at_work = members.filter(({ current, helping }) => current !== undefined || helping.length > 0).length;
    const begun = free.find(({ helping }) => {
      const waiting = helping.reduce((sum, question) => sum + question.bytes, 0);
      return helping.length > 0 && waiting + bytes <= WAITING_BYTES_MAXIMUM;
    });
    if (begun !== undefined) return at_work <= cores ? begun : undefined;
    return at_work < cores ? free.find(({ helping }) => helping.length === 0) : undefined;
  }

  function answer({ asker, call, watch }: Question<M>, findings: FindingMessage[] | null): void {
    clearInterval(watch);
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
      const asked_at = performance.now();
      const watch = setInterval(() => {
        const ended_for = performance.now() - asked_at > ANSWER_MS ? 'time' : isGrown(helper) ? 'memory' : undefined;
        if (ended_for === undefined || ended.has(helper)) return;
        ended.add(helper);
        const pids = { pid: helper.child.pid, asked_by: asker.child.pid };
        logger.warn({ ...pids, ended_for }, 'engine process that helps another takes too much');
        helper.child.kill('SIGKILL');
      }, MEMORY_LOOK_MS);
      helper.helping.push({ asker, call, bytes, watch });
      send(asker, { kind: 'granted', call });
      send(helper, { kind: 'match', path, ranges });
    },
    onMatched(helper: M, findings: FindingMessage[] | null): void {
      const question = helper.helping.shift();
      if (question !== undefined) answer(question, findings);
    },
    /** The processes that wait for its answers match alone. Answers whether the server has ended it over a question. */
    onExit(helper: M): boolean {
      for (const question of helper.helping.splice(0)) {
        if (question.asker.current !== undefined) alone.add(question.asker.current);
        answer(question, null);
      }
      return ended.has(helper);
    },
  };
}
