import { useEffect, useRef } from 'react';

/** Closes the layer; false where the person wants to keep it open. */
type Close = () => unknown;

/** Fields that are added to the router's state of a history entry. */
interface Added {
  /** Open layers above the page. */
  layers: number;
  /** The address of the entry beneath, where the page pushed this one. */
  beneath: string | undefined;
}

/** Dialogs, sheets and menus that are open, the topmost last. */
const open: Close[] = [];
/** Navigations that came while the history was on its way to an entry beneath. */
const waiting: (() => void)[] = [];
let isReturning = false;
let isDue = false;

/** The history's own methods. */
let pushEntry: History['pushState'];
let replaceEntry: History['replaceState'];
let isWatching = false;

const entry = (state: unknown): object => (typeof state === 'object' && state !== null ? state : {});

function addedTo(state: unknown): Added {
  const { layers, beneath } = { layers: undefined, beneath: undefined, ...entry(state) };
  return { layers: typeof layers === 'number' ? layers : 0, beneath: typeof beneath === 'string' ? beneath : undefined };
}

/** The page of an entry, as a number of the router. A layer has the number of the page below it. */
const pageOf = (state: unknown): unknown => ({ idx: undefined, ...entry(state) }).idx;

/** The entry that the person sees, as the router wrote it last. */
let shown: { state: object; url: string };

function remember(): void {
  shown = { state: entry(history.state), url: location.href };
}

/** Gives the entry under the person the address and the state that the router knows, which may have changed in an entry above it. */
function restore({ layers, beneath }: Added): void {
  replaceEntry({ ...shown.state, layers, beneath }, '', shown.url);
  remember();
}

/** Brings the history to the open layers, whatever opened and closed them. */
function settle(): void {
  isDue = false;
  if (isReturning || !isWatching) return;
  const { layers, beneath } = addedTo(history.state);
  for (let count = layers + 1; count <= open.length; count += 1) pushEntry({ ...shown.state, layers: count, beneath }, '');
  remember();
  // A page that became the page beneath it, as by closing the dialog of an address, is the same entry.
  const repeated = open.length === 0 && beneath === location.href ? 1 : 0;
  const distance = Math.max(0, layers - open.length) + repeated;
  if (distance === 0) return;
  isReturning = true;
  history.go(-distance);
}

/** Once for all layers of one rendering: a menu that opens a dialog changes nothing. */
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
    // The router has nothing to do: the page stays.
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

/** Watches the history of the window, once. */
function watch(): void {
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
    // A page that a layer opens takes the entry of the layer, so that Back leads to the page beneath.
    const write = addedTo(history.state).layers > 0 ? replaceEntry : pushEntry;
    write({ ...entry(state), beneath: shown.url }, unused, url);
    remember();
    settleSoon();
  };

  history.replaceState = (state, unused, url) => {
    const changed = { ...entry(state), ...addedTo(history.state) };
    if (isReturning) {
      // `restore` writes it where the history arrives.
      shown = { state: changed, url: new URL(url ?? shown.url, location.href).href };
      return;
    }
    replaceEntry(changed, unused, url);
    remember();
    settleSoon();
  };
  // Before the router, which listens in the other phase.
  addEventListener('popstate', pop, { capture: true });
  // A page that was loaded again has the entries of layers that are gone.
  settleSoon();
}

/** For tests, whose files share one history. */
export function stopWatching(): void {
  if (!isWatching) return;
  isWatching = false;
  isReturning = false;
  open.length = 0;
  waiting.length = 0;
  removeEventListener('popstate', pop, { capture: true });
  history.pushState = pushEntry;
  history.replaceState = replaceEntry;
  history.replaceState(null, '');
}

/**
 * Has Back close a dialog, sheet or menu before it leaves the page: the topmost first, each by an entry of the history. Closing it otherwise takes its entry away, and Forward opens
 * nothing again.
 */
export function useClosedByBack(isOpen: boolean, close: Close): void {
  const current = useRef(close);
  current.current = close;
  useEffect(() => {
    watch();
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
