import { type ReactNode, useCallback } from 'react';

const FOCUSABLE = ':is(a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary, [tabindex="0"])';

/** Something that has the focus or holds what has it, and what stood beside it at that time. */
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

/** Where the focus goes when its element is gone: the row beside, or else the next control of the smallest part that is still there. */
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

/**
 * The ref of an element in which buttons vanish when they are pressed. Without it a person who uses the keyboard starts at the head of the page each time: the browser drops the focus when its element is removed.
 */
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

/** A part of a screen in which the focus is kept like that. */
export function FocusKept({ children }: { children: ReactNode }) {
  return (
    <div ref={useFocusKept()} tabIndex={-1}>
      {children}
    </div>
  );
}
