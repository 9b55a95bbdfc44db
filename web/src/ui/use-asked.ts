import { useCallback, useRef } from 'react';
import { useLocation, useSearchParams } from 'react-router';

/**
 * The id of the record that the address names by `parameter`, such as `?rule=`; null without one. `reach` scrolls to the element of the record and focuses
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
        // The beginning of a tall one would be out of sight.
        element.scrollIntoView({ block: element.offsetHeight > innerHeight / 2 ? 'start' : 'center' });
        element.focus({ preventScroll: true });
      });
    },
    [key],
  );
  return { id: search.get(parameter), reach };
}
