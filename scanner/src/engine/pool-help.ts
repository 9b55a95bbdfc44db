import type { ChildProcess } from 'node:child_process';
import { basename, join } from 'node:path';
import type { EngineLog } from './engine-log.ts';
import type { EngineMessage, EngineRequest, FindingMessage } from './messages.ts';
import { MEMORY_LOOK_MS } from './process-memory.ts';

// Idle engine processes match for busy ones. The server mediates: it knows which are idle, and routes the answers.

/** A question that waits for the answer of a helping process. */
export interface Question<M> {
  asker: M;
  call: number;
  bytes: number;
  watch: NodeJS.Timeout;
}

/** The state of an engine process that helping needs. */
export interface Hand<M> {
  child: Pick<ChildProcess, 'connected' | 'pid' | 'kill'>;
  generation: { members: ReadonlySet<M> };
  facts: unknown;
  current: { waiting: { job: { path: string; folder: string } } } | undefined;
  /** Questions of other processes that it answers, in order. */
  helping: Question<M>[];
}

/** Maximum bytes waiting at one process, so that a new file need not wait longer. A single question may be larger. */
const WAITING_BYTES_MAXIMUM = 1024 ** 2;
/** A question may be no larger. Bytes. */
const QUESTION_BYTES_MAXIMUM = 24 * 1024 ** 2;
/**
 * Time limit of matching for another process, in ms: then the asker matches itself, within the file's time. Shorter than the grace period after that time, so that no
 * process is killed for waiting.
 */
const ANSWER_MS = 4_000;

/** Whether a process may request these bytes: its own file, and content that it unpacked. */
function isOwn(asker: Hand<unknown>, path: string): boolean {
  const job = asker.current?.waiting.job;
  if (job === undefined) return false;
  const name = basename(path);
  return path === job.path || (/^[0-9]+$/.test(name) && path === join(job.folder, name));
}

/**
 * @param cores maximum number of processes working on one file @param isWanted whether a file waits for a process: then idle processes are not asked for help @param isGrown
 * whether a process uses more memory than allowed for reading a file
 */
export function createPoolHelp<M extends Hand<M>>(parts: {
  cores: number;
  isWanted: () => boolean;
  isGrown: (member: M) => boolean;
  send: (member: M, request: EngineRequest) => void;
  logger: EngineLog;
}) {
  const { cores, isWanted, isGrown, send, logger } = parts;
  /** Files whose helper process crashed: they are read without help. */
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
    /** Answers waiting askers of a process that ended: they match themselves. Returns whether the server killed it over a question. */
    onExit(helper: M): boolean {
      for (const question of helper.helping.splice(0)) {
        if (question.asker.current !== undefined) alone.add(question.asker.current);
        answer(question, null);
      }
      return ended.has(helper);
    },
  };
}
