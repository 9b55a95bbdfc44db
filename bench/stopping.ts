// Stops what a bench started, the last one first, also where it fails in the middle.
/** Takes what was started, so that it is stopped. */
export type Stopped = <One extends { stop(): unknown }>(started: One) => One;

/** Runs what starts processes and stops them afterwards, the last one first, also where it fails in the middle: what is left running would be measured with the next. */
export async function stopping<Answer>(run: (stopped: Stopped) => Promise<Answer>): Promise<Answer> {
  const running: { stop(): unknown }[] = [];
  try {
    return await run((started) => {
      running.push(started);
      return started;
    });
  } finally {
    for (const one of running.toReversed()) await one.stop();
  }
}
