import { type ReactNode, useCallback } from 'react';

const FOCUSABLE = ':is(a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary, [tabindex="0"])';

/** The focused element or one of its ancestors, with the siblings that it had when it was focused. */
interface Step {
  element: Element;
  beside: (Element | null)[];
}

function wayUp(from: Element, box: Element): Step[] {
  const steps: Step[] = [];
  for (let element: Element | null = from; element && element !== box; element = element.parentElement) {
    steps.push({ element, beside: [element.nextElementSibling, element.previousElementSibling] });
  }
  return steps;
}

function firstIn(element: Element | null | undefined): HTMLElement | null {
  if (!element?.isConnected) return null;
  return element.matches(FOCUSABLE) && element instanceof HTMLElement ? element : element.querySelector<HTMLElement>(FOCUSABLE);
}

/** The element that gets the focus when the focused one is removed: the neighbouring row, else the next control in the closest remaining ancestor. */
function successorOf(steps: readonly Step[]): HTMLElement | null {
  const still = steps.findIndex(({ element }) => element.isConnected);
  const gone = still === -1 ? steps.at(-1) : steps[still - 1];
  for (const element of gone?.beside ?? []) {
    const control = firstIn(element);
    if (control) return control;
  }
  for (const { element } of still === -1 ? [] : steps.slice(still)) {
    const control = firstIn(element);
    if (control) return control;
  }
  return null;
}

/** The ref of an element whose buttons disappear when pressed. The browser drops the focus of a removed element; without this a keyboard user starts at the top of the page each time. */
export function useFocusKept() {
  return useCallback((box: HTMLElement | null) => {
    if (!box) return;
    let steps: Step[] = [];
    const remember = ({ target }: FocusEvent) => {
      if (target instanceof Element) steps = wayUp(target, box);
    };
    const observer = new MutationObserver(() => {
      const [had] = steps;
      if (!had || had.element.isConnected || document.activeElement !== document.body) return;
      (successorOf(steps) ?? firstIn(box) ?? box).focus({ preventScroll: true });
    });
    box.addEventListener('focusin', remember);
    observer.observe(box, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      box.removeEventListener('focusin', remember);
    };
  }, []);
}

/** A part of a screen that keeps the focus with `useFocusKept`. */
export function FocusKept({ children }: { children: ReactNode }) {
  return (
    <div ref={useFocusKept()} tabIndex={-1}>
      {children}
    </div>
  );
}
