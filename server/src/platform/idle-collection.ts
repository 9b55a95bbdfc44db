import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createCollector } from '@palisade/scanner/collector';

const LOOK_EVERY_MS = 10_000;
/** If the event loop is busy for a larger share of the time, garbage collection is left to V8. */
const IDLE_SHARE = 0.05;
const WORTH_WHILE = 6 * 1024 ** 2;

interface World {
  /** The heap in use, in bytes. */
  held: () => number;
  collect: () => void;
  /** The share of the time since the last call in which the event loop was busy, from 0 to 1. */
  busyShare: () => number;
}

/** V8's full garbage collection, which also drops code that was not used recently. JavaScript can call it only after V8 is asked to expose it. */
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

/** Collects garbage of the start and of calls once the server is idle: with a heap that may double (`--heap-growing-percent`), V8 itself collects later. Stops with the returned function. */
export function collectWhenIdle(world: World = createWorld()): () => void {
  let collectLeft: (() => void) | undefined;
  const timer = setInterval(() => {
    if (world.busyShare() > IDLE_SHARE) return;
    collectLeft?.();
    if (collectLeft !== undefined) return;
    // Collect the garbage of the start.
    world.collect();
    collectLeft = createCollector(world.held, world.collect, WORTH_WHILE);
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
