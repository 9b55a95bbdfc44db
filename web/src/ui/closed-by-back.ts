import { useEffect, useRef } from 'react';

/** Closes the layer; returns false if the person keeps it open. */
type Close = () => unknown;

/** Fields added to the router's state of a history entry. */
interface Added {
  /** Number of open layers above the page. */
  layers: number;
  /** URL of the previous entry, if the page pushed this one. */
  beneath: string | undefined;
}

/** Open dialogs, sheets and menus, topmost last. */
const open: Close[] = [];
/** Navigations requested while the history returns to an earlier entry. */
const waiting: (() => void)[] = [];
let isReturning = false;
let isDue = false;

/** The original methods of `history`. */
let pushEntry: History['pushState'];
let replaceEntry: History['replaceState'];
let isWatching = false;

const entry = (state: unknown): object => (typeof state === 'object' && state !== null ? state : {});

function addedTo(state: unknown): Added {
  const { layers, beneath } = { layers: undefined, beneath: undefined, ...entry(state) };
  return { layers: typeof layers === 'number' ? layers : 0, beneath: typeof beneath === 'string' ? beneath : undefined };
}

/** The router's index of an entry. A layer has the index of its page. */
const pageOf = (state: unknown): unknown => ({ idx: undefined, ...entry(state) }).idx;

/** The present entry, as the router wrote it last. */
let shown: { state: object; url: string };

function remember(): void {
  shown = { state: entry(history.state), url: location.href };
}

/** Writes the router's latest URL and state to the present entry, because they may have changed in an entry above it. */
function restore({ layers, beneath }: Added): void {
  replaceEntry({ ...shown.state, layers, beneath }, '', shown.url);
  remember();
}

/** Makes the history entries match the open layers. */
function settle(): void {
  isDue = false;
  if (isReturning || !isWatching) return;
  const { layers, beneath } = addedTo(history.state);
  for (let count = layers + 1; count <= open.length; count += 1) pushEntry({ ...shown.state, layers: count, beneath }, '');
  remember();
  // An entry whose URL equals the previous one, as after closing a dialog of an address, is redundant.
  const repeated = open.length === 0 && beneath === location.href ? 1 : 0;
  const distance = Math.max(0, layers - open.length) + repeated;
  if (distance === 0) return;
  isReturning = true;
  history.go(-distance);
}

/** Runs once for all changes of a render: a menu that opens a dialog needs no change. */
function settleSoon(): void {
  if (isDue) return;
  isDue = true;
  queueMicrotask(settle);
}

function pop(event: PopStateEvent): void {
  const added = addedTo(event.state);
  if (isReturning) {
    isReturning = false;
    event.stopImmediatePropagation();
    restore(added);
    for (const navigate of waiting.splice(0)) navigate();
  } else if (pageOf(event.state) === pageOf(shown.state)) {
    // The page stays, so the router must not handle the event.
    event.stopImmediatePropagation();
    restore(added);
    for (const close of open.slice(added.layers).reverse()) if (close() !== false) remove(close);
  } else {
    for (const close of open.splice(0).reverse()) close();
    remember();
  }
  settleSoon();
}

function remove(close: Close): void {
  const at = open.indexOf(close);
  if (at !== -1) open.splice(at, 1);
}

/** Patches `history` and adds the listener, once. Called before the router is created, because Chromium calls listeners of the window in the order of registration. */
export function watchHistory(): void {
  if (isWatching) return;
  isWatching = true;
  pushEntry = history.pushState.bind(history);
  replaceEntry = history.replaceState.bind(history);
  remember();
  history.pushState = (state, unused, url) => {
    if (isReturning) {
      waiting.push(() => history.pushState(state, unused, url));
      return;
    }
    // A page opened from a layer replaces the layer's entry, so that Back leads to the page beneath.
    const write = addedTo(history.state).layers > 0 ? replaceEntry : pushEntry;
    write({ ...entry(state), beneath: shown.url }, unused, url);
    remember();
    settleSoon();
  };

  history.replaceState = (state, unused, url) => {
    const changed = { ...entry(state), ...addedTo(history.state) };
    if (isReturning) {
      // `restore` writes this state when the history arrives.
      shown = { state: changed, url: new URL(url ?? shown.url, location.href).href };
      return;
    }
    replaceEntry(changed, unused, url);
    remember();
    settleSoon();
  };
  addEventListener('popstate', pop);
  // After a reload, entries of closed layers may remain.
  settleSoon();
}

/** Restores `history` for tests, whose files share it. */
export function stopWatching(): void {
  if (!isWatching) return;
  isWatching = false;
  isReturning = false;
  open.length = 0;
  waiting.length = 0;
  removeEventListener('popstate', pop);
  history.pushState = pushEntry;
  history.replaceState = replaceEntry;
  history.replaceState(null, '');
}

/**
 * Makes Back close a dialog, sheet or menu before it leaves the page, topmost first, with one history entry for each.
 * Closing a layer in another way removes its entry, and Forward does not reopen it.
 */
export function useClosedByBack(isOpen: boolean, close: Close): void {
  const current = useRef(close);
  current.current = close;
  useEffect(() => {
    watchHistory();
    if (!isOpen) return undefined;
    const layer = () => current.current();
    open.push(layer);
    settleSoon();
    return () => {
      remove(layer);
      settleSoon();
    };
  }, [isOpen]);
}
