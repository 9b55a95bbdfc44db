import { FIX_PLACES } from '@palisade/contract/anti-hacking';
import { matchRoutes } from 'react-router';
import { expect, it } from 'vitest';
import { routes } from './router.tsx';
import { groupAt, SCREENS, stepsTo } from './screens.tsx';

it.each(FIX_PLACES)('%s, to which the posture scan leads, is a screen', (place) => {
  const screen = matchRoutes(routes, place)?.at(-1);
  expect(screen?.route.path).toBe(place.split('?', 1)[0]);
});

it('names and loads every screen of the table, and nothing else but what is not found', () => {
  const inShell = routes[0]?.children?.[0]?.children ?? [];
  expect(inShell).toMatchObject([
    { index: true },
    ...SCREENS.map(({ path, title }) => ({ path, handle: { title } })),
    { path: '*', handle: { title: 'Not found' } },
  ]);
});

it.each([
  ['/antivirus', 'Antivirus', [{ title: 'Antivirus' }]],
  ['/admin/users', 'Users', [{ title: 'People' }, { title: 'Users' }]],
  ['/support', 'Support Desk', [{ title: 'Support Desk' }]],
  ['/support/answers', 'Saved replies', [{ title: 'Support Desk', path: '/support' }, { title: 'Saved replies' }]],
  ['/support/reports', 'Reports', [{ title: 'Records' }, { title: 'Reports' }]],
  ['/help/first-scan', 'Help page', [{ title: 'Help', path: '/help' }, { title: 'Help page' }]],
  ['/nowhere', undefined, []],
])('leads from the dashboard to %s by the screens above it', (path, title, steps) => {
  expect(stepsTo(path, title)).toEqual(steps);
});

it.each([
  ['/admin/users', 'people'],
  ['/support/reports', 'records'],
  ['/portal', 'support'],
  ['/help/first-scan', 'tools'],
  ['/dashboard', 'main'],
  ['/confirm-email', undefined],
  ['/supportive', undefined],
])('%s is in the group %s of the sidebar', (path, group) => {
  expect(groupAt(path)).toBe(group);
});
