import { useCallback, useRef } from 'react';
import { useLocation, useSearchParams } from 'react-router';

/**
 * The id of the record in the URL parameter `parameter`, such as `?rule=`; null without one. `reach` scrolls to the record's element and focuses
 * it, once for each navigation.
 */
export function useAsked(parameter: string) {
  const [search] = useSearchParams();
  const { key } = useLocation();
  const reached = useRef<string>(undefined);
  const reach = useCallback(
    (element: HTMLElement | null) => {
      if (element === null || reached.current === key) return;
      reached.current = key;
      // After the effects of the navigation itself, which focus the heading.
      queueMicrotask(() => {
        // Otherwise the beginning of a tall element would be out of view.
        element.scrollIntoView({ block: element.offsetHeight > innerHeight / 2 ? 'start' : 'center' });
        element.focus({ preventScroll: true });
      });
    },
    [key],
  );
  return { id: search.get(parameter), reach };
}
