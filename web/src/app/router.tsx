import type { ReactNode } from 'react';
import { Navigate } from 'react-router';
import { useIsStaff, useMayAdministrate } from '#api/policies.ts';
import { useRemoteNews } from '#domain/session/remote-news.ts';
import { lazyPart } from '#ui/lazy-part.tsx';
import type { ScreenRoute, ScreenRouter } from '#ui/screen-router.ts';
import { ScreenView } from '#ui/screen-view.tsx';
import { CrashBoundary } from './crash-boundary.tsx';
import { NotFoundPage } from './not-found-page.tsx';
import { SCREENS, type Screen } from './screens.tsx';
import { Shell } from './shell/shell.tsx';
import { Splash } from './splash.tsx';

const RemoteNotice = lazyPart(async () => (await import('#features/remote/remote-notice.tsx')).RemoteNotice);

/** For windows without the shell. */
function RemoteNoticeWhenTold() {
  return useRemoteNews() && <RemoteNotice />;
}

/** Technicians start at the desk, all others at the dashboard. */
function Start() {
  const isStaff = useIsStaff();
  const isAdmin = useMayAdministrate();
  return <Navigate to={isStaff && !isAdmin ? '/support' : '/dashboard'} replace />;
}

export interface AppRoute extends ScreenRoute {
  title?: string;
  /** In its own window, without the shell. */
  isAlone?: true;
}

/** Loads a screen and, in parallel, its guard. */
async function loadScreen(screen: Screen): Promise<ReactNode> {
  const loading = screen.load();
  const loaded = screen.guard ? await (await import('./guarded.tsx')).guarded(screen, loading) : await loading;
  return 'element' in loaded ? loaded.element : <loaded.Component />;
}

export const routes: readonly AppRoute[] = [
  { path: '/', load: async () => <Start /> },
  ...SCREENS.map((screen) => ({ path: screen.path, title: screen.title, load: () => loadScreen(screen) })),
  {
    path: '/live-chat',
    isAlone: true,
    load: async () => {
      const { LiveChatPage } = await import('#features/chat/live-chat-page.tsx');
      return <LiveChatPage notice={<RemoteNoticeWhenTold />} />;
    },
  },
  { path: '*', title: 'Not found', load: async () => <NotFoundPage /> },
];

/** The screen at the address, in the shell. A screen that breaks leaves the shell, and the next address ends the error. */
export function AppScreens({ router }: { router: ScreenRouter<AppRoute> }) {
  return (
    <ScreenView router={router} meanwhile={<Splash />}>
      {(screen, { title, isAlone }, { location, isLoading }) => {
        const guarded = <CrashBoundary at={location}>{screen}</CrashBoundary>;
        return isAlone ? (
          guarded
        ) : (
          <Shell title={title} isLoading={isLoading}>
            {guarded}
          </Shell>
        );
      }}
    </ScreenView>
  );
}
