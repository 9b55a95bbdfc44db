import { readConfig } from '@palisade/contract/platform';
import { cleanup, screen } from '@testing-library/react';
import { beforeEach, expect, it } from 'vitest';
import { CONFIG, MARIA } from '#api/fake-records.ts';
import { FakeServer } from '#api/fake-server.ts';
import { startSession } from '#api/session.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { Guarded, noticeOf } from './guarded.tsx';
import { routes } from './router.tsx';
import { isStaffGroup, SCREENS } from './screens.tsx';

const GUARDED = SCREENS.flatMap(({ path, title, guard }) => (guard ? [{ path, title, guard }] : []));

const server = FakeServer.ofEachTest();

beforeEach(() => {
  server.answer(readConfig, CONFIG);
});

async function open(path: string) {
  const route = routes[0]?.children?.[0]?.children?.find((one) => one.path === path);
  const loaded = typeof route?.lazy === 'function' ? await route.lazy() : {};
  renderForTest('element' in loaded ? loaded.element : undefined);
}

it('the desk is for the staff, and every screen of administrators for them alone', () => {
  const paths = (policy: string) => GUARDED.filter(({ guard }) => guard === policy).map(({ path }) => path);
  expect(paths('useDesk')).toEqual(['/support', '/support/answers']);
  const ofStaff = SCREENS.filter(({ nav }) => isStaffGroup(nav?.group)).map(({ path }) => path);
  expect(paths('administrate')).toEqual(ofStaff.filter((path) => !['/support', '/support/answers', '/portal'].includes(path)));
});

// proves: support-staff-8
it.each(GUARDED)(
  '$path shows other people its heading with the notice, and asks the server nothing',
  async ({ path, title, guard }) => {
    const others = guard === 'administrate' ? (['customer', 'support'] as const) : (['customer'] as const);
    for (const role of others) {
      startSession({ access_token: 'token-1', user_info: { ...MARIA, role } });
      await open(path);
      expect(screen.getByRole('heading', { level: 1, name: title })).toBeVisible();
      const { title: name = 'Administrators only', sentence } = noticeOf({ path, guard });
      expect(screen.getByRole('region', { name })).toHaveTextContent(sentence);
      expect(screen.getAllByRole('region')).toHaveLength(1);
      cleanup();
    }
    expect(server.calls.filter((one) => one.path !== readConfig.path)).toEqual([]);
  },
);

it.each([
  ['administrate', 'admin'],
  ['useDesk', 'support'],
  ['useDesk', 'admin'],
] as const)('a guard of "%s" lets the role %s in', (policy, role) => {
  startSession({ access_token: 'token-1', user_info: { ...MARIA, role } });
  renderForTest(
    <Guarded path="/support" guard={policy}>
      <p>The screen</p>
    </Guarded>,
  );
  expect(screen.getByText('The screen')).toBeVisible();
});
