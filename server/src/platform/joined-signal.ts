/** A signal that is aborted with the first of several, until it is released; or by `abort`. */
export interface JoinedSignal {
  signal: AbortSignal;
  abort(): void;
  /** Leaves the other signals. To be called when nobody listens any more. */
  release(): void;
}

/** Joins signals as `AbortSignal.any` does, without the weak references that it leaves to the collection of garbage: for signals that are made for each request. */
export function joinSignals(signals: readonly AbortSignal[]): JoinedSignal {
  const joined = new AbortController();
  const follow = () => joined.abort(signals.find(({ aborted }) => aborted)?.reason);
  const isAborted = signals.some(({ aborted }) => aborted);
  if (isAborted) follow();
  else for (const signal of signals) signal.addEventListener('abort', follow, { once: true });
  return {
    signal: joined.signal,
    abort: () => joined.abort(),
    release() {
      for (const signal of signals) signal.removeEventListener('abort', follow);
    },
  };
}
