import { Navigate, type RouteObject } from 'react-router';
import { useIsStaff, useMayAdministrate } from '#api/policies.ts';
import { useRemoteNews } from '#domain/session/remote-news.ts';
import { lazyPart } from '#ui/lazy-part.tsx';
import { NotFoundPage } from './not-found-page.tsx';
import { RouteError } from './route-error.tsx';
import { SCREENS, type Screen } from './screens.tsx';
import { Shell } from './shell/shell.tsx';
import { Splash } from './splash.tsx';

const RemoteNotice = lazyPart(async () => (await import('#features/remote/remote-notice.tsx')).RemoteNotice);

/** In a window without the shell. */
function RemoteNoticeWhenTold() {
  return useRemoteNews() && <RemoteNotice />;
}

/** A technician begins at the desk, all other people at the dashboard. */
function Start() {
  const isStaff = useIsStaff();
  const isAdmin = useMayAdministrate();
  return <Navigate to={isStaff && !isAdmin ? '/support' : '/dashboard'} replace />;
}

/** A screen with its guard; the notice is fetched with the screens that have one. */
async function loadScreen({ load, guard }: Screen) {
  if (!guard) return load();
  const [screen, { Guarded }] = await Promise.all([load(), import('./guarded.tsx')]);
  return {
    element: <Guarded guard={guard}>{'element' in screen ? screen.element : <screen.Component />}</Guarded>,
  };
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
          { path: '*', handle: { title: 'Not found' }, element: <NotFoundPage /> },
        ],
      },
    ],
  },
  {
    // In a window of its own, without the shell.
    path: '/live-chat',
    hydrateFallbackElement: <Splash />,
    errorElement: <RouteError />,
    lazy: async () => {
      const { LiveChatPage } = await import('#features/chat/live-chat-page.tsx');
      return { element: <LiveChatPage notice={<RemoteNoticeWhenTold />} /> };
    },
  },
];
