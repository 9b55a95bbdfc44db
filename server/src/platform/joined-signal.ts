/** A signal that is aborted by the first of several signals, until it is released, or by `abort`. */
export interface JoinedSignal {
  signal: AbortSignal;
  abort(): void;
  /** Stops listening to the other signals. Call this when the joined signal is no longer used. */
  release(): void;
}

/** Like `AbortSignal.any`, but without its weak references, which burden garbage collection: for signals that are created for each request. */
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
