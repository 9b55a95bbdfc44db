import { type ComponentType, type ReactNode, startTransition, useLayoutEffect, useState } from 'react';

interface LazyProps {
  /** In its place until its file is there. */
  meanwhile?: ReactNode;
}

/** A component whose file is fetched when it is first drawn, or before. */
export type LazyPart<Props> = ((props: Props & LazyProps) => ReactNode) & {
  /** Fetches the file if `isWanted`. Answers whether nothing is to be waited for: a file that does not come lets the part itself say so. */
  useIsReady: (isWanted: boolean) => boolean;
  /** Fetches the file; rejects when it does not come. */
  prepare: () => Promise<void>;
};

class PartFile<Props> {
  component: ComponentType<Props> | undefined;
  readonly #load: () => Promise<ComponentType<Props>>;
  #loading: Promise<void> | undefined;

  constructor(load: () => Promise<ComponentType<Props>>) {
    this.#load = load;
  }

  /** Fetches it once. After a failure the next call tries again. */
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

/** Fetches a file if it is wanted, and draws the calling component anew once it is there or failed. */
function useFile<Props>(file: PartFile<Props>, isWanted: boolean): { isSettled: boolean; error?: unknown } {
  const [settled, setSettled] = useState<{ error?: unknown }>();
  const isMissing = isWanted && file.component === undefined && settled === undefined;
  useLayoutEffect(() => {
    if (!isMissing) return;
    let isHere = true;
    const settle = (outcome: { error?: unknown }) => {
      // In slices, so that the page answers while a large part is drawn.
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
 * In place of React's `lazy` in a `Suspense`: after any placeholder on the page React draws nothing for 300 ms that it waited for (FALLBACK_THROTTLE_MS), also
 * when the file came after 3 ms. An error of `load` is thrown where the part is drawn.
 */
export function lazyPart<Props extends object>(load: () => Promise<ComponentType<Props>>): LazyPart<Props> {
  const file = new PartFile(load);
  // biome-ignore lint/correctness/noComponentHookFactories: made once for a file, as by React's own lazy
  function Lazy(props: Props & LazyProps) {
    const outcome = useFile(file, true);
    const Part = file.component;
    if (Part !== undefined) return <Part {...props} />;
    if ('error' in outcome) throw outcome.error;
    return props.meanwhile;
  }
  return Object.assign(Lazy, { prepare: file.prepare, useIsReady: (isWanted: boolean) => useFile(file, isWanted).isSettled });
}
