import { FIX_PLACES } from '@palisade/contract/anti-hacking';
import { matchRoutes } from 'react-router';
import { expect, it } from 'vitest';
import { routes } from './router.tsx';

it.each(FIX_PLACES)('%s, to which the posture scan leads, is a screen', (place) => {
  const screen = matchRoutes(routes, place)?.at(-1);
  expect(`/${screen?.route.path}`).toBe(place.split('?', 1)[0]);
});
