import { type ComponentType, type ReactNode, startTransition, useLayoutEffect, useState } from 'react';

interface LazyProps {
  /** Placeholder until the file is loaded. */
  meanwhile?: ReactNode;
}

/** A component whose file is loaded at its first render, or earlier with `prepare`. */
export type LazyPart<Props> = ((props: Props & LazyProps) => ReactNode) & {
  /** Loads the file if `isWanted`. Returns true when loading has ended; after a failure the part itself shows the error. */
  useIsReady: (isWanted: boolean) => boolean;
  /** Loads the file; rejects on failure. */
  prepare: () => Promise<void>;
};

class PartFile<Props> {
  component: ComponentType<Props> | undefined;
  readonly #load: () => Promise<ComponentType<Props>>;
  #loading: Promise<void> | undefined;

  constructor(load: () => Promise<ComponentType<Props>>) {
    this.#load = load;
  }

  /** Loads the file once. After a failure the next call tries again. */
  readonly prepare = (): Promise<void> => {
    this.#loading ??= this.#load().then(
      (component) => {
        this.component = component;
      },
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
  };
}

/** Loads a file if it is wanted, and rerenders the calling component when it is loaded or has failed. */
function useFile<Props>(file: PartFile<Props>, isWanted: boolean): { isSettled: boolean; error?: unknown } {
  const [settled, setSettled] = useState<{ error?: unknown }>();
  const isMissing = isWanted && file.component === undefined && settled === undefined;
  useLayoutEffect(() => {
    if (!isMissing) return;
    let isHere = true;
    const settle = (outcome: { error?: unknown }) => {
      // A transition renders in slices, so the page stays responsive while a large part renders.
      if (isHere) startTransition(() => setSettled(outcome));
    };
    file.prepare().then(
      () => settle({}),
      (error: unknown) => settle({ error }),
    );
    return () => {
      isHere = false;
    };
  }, [file, isMissing]);
  return { isSettled: !isMissing, ...settled };
}

/**
 * Replaces React's `lazy` with `Suspense`: after any placeholder, React delays suspended content by 300 ms (FALLBACK_THROTTLE_MS), even if the file came after 3 ms.
 * An error of `load` is thrown during render.
 */
export function lazyPart<Props extends object>(load: () => Promise<ComponentType<Props>>): LazyPart<Props> {
  const file = new PartFile(load);
  // biome-ignore lint/correctness/noComponentHookFactories: called once for each file, like React's own lazy
  function Lazy(props: Props & LazyProps) {
    const outcome = useFile(file, true);
    const Part = file.component;
    if (Part !== undefined) return <Part {...props} />;
    if ('error' in outcome) throw outcome.error;
    return props.meanwhile;
  }
  return Object.assign(Lazy, { prepare: file.prepare, useIsReady: (isWanted: boolean) => useFile(file, isWanted).isSettled });
}
