import { may } from '@palisade/contract/may';
import { IconArrowBackUp, IconChevronRight } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { Link, Outlet, ScrollRestoration, useLocation, useMatches, useNavigate, useNavigation } from 'react-router';
import { useConfig } from '#api/config.ts';
import { useSession } from '#api/session.ts';
import { stepsTo } from '#app/screens.tsx';
import { useUnread } from '#domain/conversation/chat.ts';
import { useRemoteNews } from '#domain/session/remote-news.ts';
import { useSharingNow } from '#domain/session/sharing-now.ts';
import { Grid, Row } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { ZoneNote } from '#ui/zone-note.tsx';
import { Dock } from './dock.tsx';
import { Sidebar } from './sidebar.tsx';
import { TopBar } from './top-bar.tsx';
import './shell.css';

/** Loaded only for people with an unconfirmed address. */
const EmailBanner = lazyPart(async () => (await import('#features/account/email-banner.tsx')).EmailBanner);
/** Loaded later, because it renders nothing visible. */
const MessageNotices = lazyPart(async () => (await import('./message-notices.tsx')).MessageNotices);
/** Loaded while this page shares its screen or voice. */
const SharingBanner = lazyPart(async () => (await import('#features/remote/sharing-banner.tsx')).SharingBanner);
/** Loaded after the first event of a remote session. */
const RemoteNotice = lazyPart(async () => (await import('#features/remote/remote-notice.tsx')).RemoteNotice);
/** Loaded only for administrators who need it. */
const ExposureBanner = lazyPart(async () => (await import('./exposure-banner.tsx')).ExposureBanner);
/** Loaded only for administrators. */
const ProxyFindingsBanner = lazyPart(async () => (await import('./proxy-findings.tsx')).ProxyFindingsBanner);

/** Properties of a route in its `handle`. */
interface RouteHandle {
  title: string;
}

function isRouteHandle(handle: unknown): handle is RouteHandle {
  return typeof handle === 'object' && handle !== null && 'title' in handle;
}

function useRouteTitle(): string | undefined {
  return useMatches()
    .map((match) => match.handle)
    .findLast(isRouteHandle)?.title;
}

/** Shown while a screen loads: on a slow network nothing else confirms the press. */
function PendingBar() {
  const isPending = useNavigation().state === 'loading';
  return isPending && <div className="shell__pending" role="progressbar" aria-label="Loading the screen" />;
}

/** Announces a new screen: sets the window title and focuses the heading. The first screen keeps the focus. */
function useArrival(title: string | undefined): void {
  const { pathname } = useLocation();
  const previous = useRef(pathname);
  const provider = useConfig()?.provider_name ?? 'Palisade';
  const unread = useUnread();
  useEffect(() => {
    const name = title ? `${title} · ${provider}` : provider;
    document.title = unread > 0 ? `(${unread}) ${name}` : name;
  }, [title, provider, unread]);
  useEffect(() => {
    if (previous.current === pathname) return;
    previous.current = pathname;
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  }, [pathname]);
}

function Breadcrumbs({ pathname, title }: { pathname: string; title: string | undefined }) {
  const steps = stepsTo(pathname, title);
  return (
    <nav aria-label="Breadcrumb" className="breadcrumbs small muted">
      <Row as="ol" wrap={false} gap="1">
        <Row as="li" wrap={false} gap="1">
          <Link to="/dashboard">Dashboard</Link>
        </Row>
        {steps.map((step, place) => (
          <Row as="li" wrap={false} gap="1" key={step.title}>
            <IconChevronRight size={14} stroke={1.7} aria-hidden="true" />
            {step.path ? (
              <Link to={step.path}>{step.title}</Link>
            ) : (
              <span aria-current={place === steps.length - 1 ? 'page' : undefined}>{step.title}</span>
            )}
          </Row>
        ))}
      </Row>
    </nav>
  );
}

export function Shell() {
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const title = useRouteTitle();
  const isDashboard = pathname === '/dashboard';
  const isAway = !isDashboard && pathname !== '/';
  const user = useSession().session?.user_info;
  const isAdmin = user !== undefined && may.administrate(user);
  const isOpenLocal = useConfig()?.open_local;
  useArrival(title);
  const sharing = useSharingNow();
  const hasRemoteNews = useRemoteNews();
  const isUnproven = useSession().session?.email_unproven;

  return (
    <Grid className="shell" data-away={isAway}>
      <a className="shell__skip rounded-s bold unlined" href="#main">
        Skip to content
      </a>
      <aside className="shell__side off-phone" aria-label="Palisade">
        <Sidebar />
      </aside>
      <div className="shrink">
        <header className="shell__top line-below">
          <TopBar />
          {sharing && <SharingBanner sharing={sharing} />}
          {hasRemoteNews && !sharing && <RemoteNotice />}
        </header>
        {isAdmin && isOpenLocal && <ExposureBanner />}
        <ZoneNote />
        {isUnproven && <EmailBanner />}
        {isAdmin && <ProxyFindingsBanner />}
        {!isDashboard && <Breadcrumbs pathname={pathname} title={title} />}
        <main id="main" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
      {isAway && (
        <button
          type="button"
          className="shell__float center round accent pointer"
          aria-label="Back to Dashboard"
          title="Back to Dashboard"
          onClick={() => navigate('/dashboard')}
        >
          <IconArrowBackUp size={24} stroke={1.7} aria-hidden="true" />
        </button>
      )}
      <Dock />

      <MessageNotices />

      <PendingBar />
      {/* Every page that the browser itself loads has the key `default`. */}
      <ScrollRestoration getKey={({ key, pathname }) => (key === 'default' ? pathname : key)} />
    </Grid>
  );
}
