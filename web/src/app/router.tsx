import { Navigate, type RouteObject } from 'react-router';
import { useIsStaff, useMayAdministrate } from '#api/policies.ts';
import { useRemoteNews } from '#domain/session/remote-news.ts';
import { lazyPart } from '#ui/lazy-part.tsx';
import { RouteError } from './route-error.tsx';
import { type Loaded, SCREENS, type Screen } from './screens.tsx';
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

/** Loads a screen and, in parallel, its guard. */
function loadScreen(screen: Screen): Loaded {
  const loaded = screen.load();
  return screen.guard ? import('./guarded.tsx').then(({ guarded }) => guarded(screen, loaded)) : loaded;
}

export const routes: RouteObject[] = [
  {
    element: <Shell />,
    hydrateFallbackElement: <Splash />,
    errorElement: <RouteError />,
    children: [
      {
        errorElement: <RouteError />,
        children: [
          { index: true, element: <Start /> },
          ...SCREENS.map((screen) => ({
            path: screen.path,
            handle: { title: screen.title },
            lazy: () => loadScreen(screen),
          })),
          {
            path: '*',
            handle: { title: 'Not found' },
            lazy: async () => ({ Component: (await import('./not-found-page.tsx')).NotFoundPage }),
          },
        ],
      },
    ],
  },
  {
    // In its own window, without the shell.
    path: '/live-chat',
    hydrateFallbackElement: <Splash />,
    errorElement: <RouteError />,
    lazy: async () => {
      const { LiveChatPage } = await import('#features/chat/live-chat-page.tsx');
      return { element: <LiveChatPage notice={<RemoteNoticeWhenTold />} /> };
    },
  },
];
