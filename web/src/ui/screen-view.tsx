import { type ReactNode, startTransition, useLayoutEffect, useState } from 'react';
import { Route, Router, Routes } from 'react-router';
import { useKeptScroll } from './kept-scroll.ts';
import type { RouterState, ScreenRoute, ScreenRouter, Shown } from './screen-router.ts';

/** Surroundings of the screen. An error of its file is thrown where the screen is rendered. */
type Surround<Of> = (screen: ReactNode, route: Of, state: RouterState<Of>) => ReactNode;

interface ScreenViewProps<Of extends ScreenRoute> {
  router: ScreenRouter<Of>;
  /** Until the first screen is loaded. */
  meanwhile: ReactNode;
  children: Surround<Of>;
}

/** Shows the screen of a router, and gives it the hooks of React Router. */
export function ScreenView<Of extends ScreenRoute>({ router, meanwhile, children }: ScreenViewProps<Of>) {
  const [state, setState] = useState(router.state);
  useLayoutEffect(() => {
    // A transition renders in slices, so the page stays responsive while a large screen renders.
    const follow = () => startTransition(() => setState(router.state));
    follow();
    return router.subscribe(follow);
  }, [router]);
  if (state.shown === undefined) return meanwhile;
  return (
    <Router location={state.location} navigationType={state.action} navigator={router.navigator}>
      <Placed state={state} shown={state.shown} surround={children} />
    </Router>
  );
}

interface PlacedProps<Of> {
  state: RouterState<Of>;
  shown: Shown<Of>;
  surround: Surround<Of>;
}

function Placed<Of extends ScreenRoute>({ state, shown, surround }: PlacedProps<Of>) {
  useKeptScroll(state.location, state.scroll);
  const screen = (
    <Routes>
      <Route path={shown.route.path} element={<Loaded {...shown} />} />
    </Routes>
  );
  return surround(screen, shown.route, state);
}

function Loaded(shown: Shown<ScreenRoute>) {
  if ('error' in shown) throw shown.error;
  return shown.element;
}
