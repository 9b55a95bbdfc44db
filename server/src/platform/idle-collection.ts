import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createCollector } from '@palisade/scanner/collector';

const LOOK_EVERY_MS = 10_000;
/** A server that works for a larger share of the time has its collections when V8 wants them. */
const IDLE_SHARE = 0.05;
const WORTH_WHILE = 6 * 1024 ** 2;

interface World {
  /** The heap in use, in bytes. */
  held: () => number;
  collect: () => void;
  /** The share of the time in which the event loop worked since it was last asked, from 0 to 1. */
  busyShare: () => number;
}

/** V8's own collection of everything, code that was not used lately with it. JavaScript has no name for it unless V8 is asked to give one. */
function findCollection(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  return typeof collect === 'function'
    ? () => void collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    : () => {};
}

function createWorld(): World {
  let before = performance.eventLoopUtilization();
  return {
    held: () => getHeapStatistics().used_heap_size,
    collect: findCollection(),
    busyShare() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      return utilization;
    },
  };
}

/**
 * Collects the garbage of the start and of calls, once the server is idle: with a heap that may double (`--heap-growing-percent`) V8 itself waits for more. Ends with the
 * answered function.
 */
export function collectWhenIdle(world: World = createWorld()): () => void {
  let collectLeft: (() => void) | undefined;
  const timer = setInterval(() => {
    if (world.busyShare() > IDLE_SHARE) return;
    collectLeft?.();
    if (collectLeft !== undefined) return;
    // The garbage of the start.
    world.collect();
    collectLeft = createCollector(world.held, world.collect, WORTH_WHILE);
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
