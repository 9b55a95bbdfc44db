import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Navigate, type RouteObject } from 'react-router';
import { overviewQuery } from '#domain/overview/overview.ts';
import { useRemoteNews } from '#domain/session/remote-news.ts';
import { areStepsLeft, wasHidden } from '#features/setup/first-steps-left.ts';
import { NotFoundPage } from './not-found-page.tsx';
import { RouteError } from './route-error.tsx';
import { Shell } from './shell/shell.tsx';
import { Splash } from './splash.tsx';

const SecurityDialog = lazy(async () => ({
  default: (await import('#features/account/security-dialog.tsx')).SecurityDialog,
}));

const FirstSteps = lazy(async () => ({ default: (await import('#features/setup/first-steps.tsx')).FirstSteps }));

/** Loaded by administrators alone, while a step is left that they have not put away. */
function FirstStepsWhileLeft() {
  const { data: overview } = useQuery(overviewQuery);
  const [isHidden] = useState(wasHidden);
  return overview && areStepsLeft(overview) && !isHidden && <FirstSteps />;
}

const RemoteNotice = lazy(async () => ({ default: (await import('#features/remote/remote-notice.tsx')).RemoteNotice }));

/** In a window without the shell. */
function RemoteNoticeWhenTold() {
  return (
    useRemoteNews() && (
      <Suspense>
        <RemoteNotice />
      </Suspense>
    )
  );
}

/** Every screen of the application. Each page is a chunk of its own. */
export const routes: RouteObject[] = [
  {
    element: <Shell />,
    hydrateFallbackElement: <Splash />,
    errorElement: <RouteError />,
    children: [
      {
        errorElement: <RouteError />,
        children: [
          { index: true, element: <Navigate to="/dashboard" replace /> },
          {
            path: 'dashboard',
            handle: { title: 'Dashboard' },
            lazy: async () => {
              const { DashboardPage } = await import('#features/dashboard/dashboard-page.tsx');
              return { element: <DashboardPage firstSteps={<FirstStepsWhileLeft />} /> };
            },
          },
          {
            path: 'antivirus',
            handle: { title: 'Antivirus' },
            lazy: async () => ({ Component: (await import('#features/antivirus/antivirus-page.tsx')).AntivirusPage }),
          },
          {
            path: 'firewall',
            handle: { title: 'Firewall' },
            lazy: async () => ({ Component: (await import('#features/firewall/firewall-page.tsx')).FirewallPage }),
          },
          {
            path: 'devices',
            handle: { title: 'Devices' },
            lazy: async () => ({ Component: (await import('#features/devices/devices-page.tsx')).DevicesPage }),
          },
          {
            path: 'remote',
            handle: { title: 'Remote Access' },
            lazy: async () => ({ Component: (await import('#features/remote/remote-page.tsx')).RemotePage }),
          },
          {
            path: 'portal',
            handle: { title: 'Remote support portal' },
            lazy: async () => ({ Component: (await import('#features/remote/portal-page.tsx')).PortalPage }),
          },
          {
            path: 'chat',
            handle: { title: 'Support Chat' },
            lazy: async () => ({ Component: (await import('#features/chat/chat-page.tsx')).ChatPage }),
          },
          {
            path: 'help',
            handle: { title: 'Help' },
            lazy: async () => ({ Component: (await import('#features/help/help-page.tsx')).HelpPage }),
          },
          {
            path: 'help/:slug',
            handle: { title: 'Help' },
            lazy: async () => ({ Component: (await import('#features/help/article-page.tsx')).ArticlePage }),
          },
          {
            path: 'support',
            handle: { title: 'Support Desk' },
            lazy: async () => ({ Component: (await import('#features/support/support-page.tsx')).SupportPage }),
          },
          {
            path: 'support/answers',
            handle: { title: 'Saved replies' },
            lazy: async () => ({ Component: (await import('#features/support/answers-page.tsx')).AnswersPage }),
          },
          {
            path: 'support/reports',
            handle: { title: 'Support reports' },
            lazy: async () => ({ Component: (await import('#features/support/reports-page.tsx')).ReportsPage }),
          },
          {
            path: 'anti-hacking',
            handle: { title: 'Anti-Hacking' },
            lazy: async () => {
              const { AntiHackingPage } = await import('#features/anti-hacking/anti-hacking-page.tsx');
              return { element: <AntiHackingPage securityDialog={SecurityDialog} /> };
            },
          },
          {
            path: 'subscription-manager',
            handle: { title: 'Subscription Manager' },
            lazy: async () => ({
              Component: (await import('#features/subscriptions/subscription-manager-page.tsx')).SubscriptionManagerPage,
            }),
          },
          {
            path: 'confirm-email',
            handle: { title: 'Confirm your email address' },
            lazy: async () => ({ Component: (await import('#features/account/confirm-email-page.tsx')).ConfirmEmailPage }),
          },
          {
            path: 'admin/setup',
            handle: { title: 'Admin Setup' },
            lazy: async () => ({ Component: (await import('#features/setup/setup-page.tsx')).SetupPage }),
          },
          {
            path: 'admin/help',
            handle: { title: 'Edit help pages' },
            lazy: async () => ({ Component: (await import('#features/help/edit-help-page.tsx')).EditHelpPage }),
          },
          {
            path: 'admin/users',
            handle: { title: 'Users' },
            lazy: async () => ({ Component: (await import('#features/administration/users-page.tsx')).UsersPage }),
          },
          {
            path: 'admin/audit',
            handle: { title: 'Audit log' },
            lazy: async () => ({ Component: (await import('#features/administration/audit-page.tsx')).AuditPage }),
          },
          {
            path: 'admin/outbox',
            handle: { title: 'Outbox' },
            lazy: async () => ({ Component: (await import('#features/outbox/outbox-page.tsx')).OutboxPage }),
          },
          {
            path: 'admin/false-alarms',
            handle: { title: 'False alarms' },
            lazy: async () => ({ Component: (await import('#features/antivirus/false-alarms-page.tsx')).FalseAlarmsPage }),
          },
          {
            path: 'admin/remote-sessions',
            handle: { title: 'Remote sessions' },
            lazy: async () => ({ Component: (await import('#features/remote/overseen-page.tsx')).OverseenPage }),
          },
          { path: '*', handle: { title: 'Not found' }, element: <NotFoundPage /> },
        ],
      },
    ],
  },
  {
    // In a window of its own, without the shell.
    path: 'live-chat',
    hydrateFallbackElement: <Splash />,
    errorElement: <RouteError />,
    lazy: async () => {
      const { LiveChatPage } = await import('#features/chat/live-chat-page.tsx');
      return { element: <LiveChatPage notice={<RemoteNoticeWhenTold />} /> };
    },
  },
];
