import type { ReactNode } from 'react';
import {
  UNSAFE_createBrowserHistory as createBrowserHistory,
  type UNSAFE_createMemoryHistory as createMemoryHistory,
  type Location,
  matchRoutes,
  type NavigateOptions,
  NavigationType,
  type Navigator,
  type To,
} from 'react-router';
import { type KeptScroll, keepScroll, keptScrollAt } from './kept-scroll.ts';

/** A screen with an address. */
export interface ScreenRoute {
  /** Pattern of React Router; `*` is every other address. */
  path: string;
  /** Loads the screen, once; after a failure the next navigation tries again. */
  load: () => Promise<ReactNode>;
}

export type Shown<Route> = { route: Route } & ({ element: ReactNode } | { error: unknown });

export interface RouterState<Route> {
  location: Location;
  action: NavigationType;
  /** The screen at `location`; undefined until the first one is loaded. */
  shown: Shown<Route> | undefined;
  /** Another screen is loading; the present one stays until then. */
  isLoading: boolean;
  scroll: KeptScroll;
}

type RouterHistory = ReturnType<typeof createBrowserHistory> | ReturnType<typeof createMemoryHistory>;

function newKey(): string {
  return Math.random().toString(36).slice(2, 10);
}

/**
 * Leads between screens: an address changes when the files of its screen are loaded, and the last navigation wins. The links, hooks and histories are React Router’s.
 * Its own `createBrowserRouter` would be two thirds more (16 kB compressed, at each first screen), for loaders, actions and fetchers that no screen has.
 */
export class ScreenRouter<Route extends ScreenRoute> {
  state: RouterState<Route>;
  readonly navigator: Navigator;
  readonly #history: RouterHistory;
  readonly #routes: Route[];
  readonly #elements = new Map<Route, ReactNode>();
  readonly #listeners = new Set<() => void>();
  readonly #stop: () => void;
  /** The number of the last navigation. */
  #last = 0;

  constructor(routes: readonly Route[], history: RouterHistory = createBrowserHistory()) {
    const { location } = history;
    this.#history = history;
    this.#routes = [...routes];
    this.state = { location, action: NavigationType.Pop, shown: undefined, isLoading: true, scroll: keptScrollAt(location.key) };
    this.navigator = {
      createHref: (to) => history.createHref(to),
      createURL: (to) => history.createURL(to),
      encodeLocation: (to) => history.encodeLocation(to),
      go: (delta) => history.go(delta),
      push: (to, state, options) => void this.navigate(to, { ...options, state }),
      replace: (to, state, options) => void this.navigate(to, { ...options, state, replace: true }),
    };
    this.#stop = history.listen((update) => void this.#open(update.location, NavigationType.Pop));
    void this.#open(location, NavigationType.Pop);
  }

  /** Opens an address of the application; settles when its screen is there or another navigation has begun. */
  navigate(to: To, { replace = false, state = null, preventScrollReset }: NavigateOptions = {}): Promise<void> {
    const location = { ...this.#history.encodeLocation(to), state, key: newKey() };
    return this.#open(location, replace ? NavigationType.Replace : NavigationType.Push, preventScrollReset);
  }

  /** Calls the listener after each change of `state`. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends the connection to the history. */
  dispose(): void {
    this.#last += 1;
    this.#stop();
  }

  async #open(location: Location, action: NavigationType, isScrollKept = false): Promise<void> {
    this.#last += 1;
    const own = this.#last;
    if (this.state.shown !== undefined) keepScroll(this.state.location.key);
    const route = matchRoutes(this.#routes, location)?.at(-1)?.route;
    if (route === undefined) throw new Error('the routes have none for every other address');
    let shown: Shown<Route> = { route, element: this.#elements.get(route) };
    if (!this.#elements.has(route)) {
      this.#become({ ...this.state, isLoading: true });
      shown = await this.#load(route);
      if (own !== this.#last) return;
    }
    if (action === NavigationType.Push) this.#history.push(location);
    if (action === NavigationType.Replace) this.#history.replace(location);
    this.#become({ location, action, shown, isLoading: false, scroll: isScrollKept ? 'kept' : keptScrollAt(location.key) });
  }

  async #load(route: Route): Promise<Shown<Route>> {
    try {
      const element = await route.load();
      this.#elements.set(route, element);
      return { route, element };
    } catch (error) {
      return { route, error };
    }
  }

  #become(state: RouterState<Route>): void {
    this.state = state;
    for (const listener of this.#listeners) listener();
  }
}
