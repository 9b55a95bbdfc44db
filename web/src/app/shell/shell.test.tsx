import { MantineProvider } from '@mantine/core';
import { listScans } from '@palisade/contract/antivirus';
import { currentUser, logout } from '@palisade/contract/auth';
import { readChat } from '@palisade/contract/chat-read';
import { readDashboard } from '@palisade/contract/dashboard';
import { readCounts } from '@palisade/contract/desk-counts';
import { readOverview } from '@palisade/contract/overview';
import { readConfig } from '@palisade/contract/platform';
import { clearProxyFindings, readProxyFindings } from '@palisade/contract/proxy';
import { completeSession, listRemoteSessions, SESSION_POLL_INTERVAL } from '@palisade/contract/remote';
import { listSessions } from '@palisade/contract/sessions';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { createMemoryRouter, RouterProvider } from 'react-router';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { refreshConfig } from '#api/config.ts';
import { chatStateOf } from '#api/fake-desk.ts';
import { CONFIG, dashboardOf, MARIA, MARIA_ACCOUNT, NOTHING_WAITS, statusOf } from '#api/fake-records.ts';
import { at, FakeServer, refusal, reply } from '#api/fake-server.ts';
import { currentSession, startSession } from '#api/session.ts';
import { routes } from '#app/router.tsx';
import { noteRemoteNews } from '#domain/session/remote-news.ts';
import { tellSharing } from '#domain/session/sharing-now.ts';
import { UploadsProvider } from '#features/antivirus/uploads.tsx';
import { sessionOf } from '#features/remote/fake-sessions.ts';
import { textsOf } from '#ui/render-for-test.tsx';

const server = FakeServer.ofEachTest(MARIA);

beforeEach(() => {
  server.answer(listScans, []);
  server.answer(readDashboard, dashboardOf());
  server.answer(readConfig, { ...CONFIG, support: { phone: '+1 800 555 0199', email: 'help@example.com', promise: '' } });
  server.answer(readChat, chatStateOf({ response_s: 240 }));
});

function open(path: string) {
  const router = createMemoryRouter(routes, { initialEntries: [path] });
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <UploadsProvider>
          <RouterProvider router={router} />
        </UploadsProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
  return { router, user: userEvent.setup() };
}

/** The page's own heading; the first screen of a run waits for its chunk. */
function heading(name: string) {
  return screen.findByRole('heading', { level: 1, name });
}

function sidebar() {
  return within(screen.getByRole('complementary', { name: 'Palisade' }));
}

describe('the shell', () => {
  it('leads from / to the dashboard', async () => {
    const { router } = open('/');
    await heading('Security dashboard');
    expect(router.state.location.pathname).toBe('/dashboard');
  });

  it('has neither breadcrumbs nor ways back on the dashboard', async () => {
    open('/dashboard');
    await heading('Security dashboard');
    expect(screen.queryByRole('button', { name: 'Back to Dashboard' })).not.toBeInTheDocument();
    expect(screen.queryByRole('navigation', { name: 'Breadcrumb' })).not.toBeInTheDocument();
    expect(within(screen.getByRole('banner')).queryByRole('button', { name: 'Dashboard' })).not.toBeInTheDocument();
    await waitFor(() => expect(document.title).toBe('Dashboard · Palisade'));
  });

  it('leads by the sidebar to a screen, marks it, names it, and gives its heading the focus', async () => {
    const { user } = open('/dashboard');
    await heading('Security dashboard');
    await user.click(sidebar().getByRole('link', { name: 'Antivirus' }));
    const arrived = await heading('Antivirus');
    expect(sidebar().getByRole('link', { name: 'Antivirus' })).toHaveAttribute('aria-current', 'page');
    expect(sidebar().getByRole('link', { name: 'Dashboard' })).not.toHaveAttribute('aria-current');
    expect(within(screen.getByRole('navigation', { name: 'Breadcrumb' })).getByText('Antivirus')).toBeVisible();
    await waitFor(() => expect(document.title).toBe('Antivirus · Palisade'));
    await waitFor(() => expect(arrived).toHaveFocus());
  });

  it('marks the chat, whose link opens a window', async () => {
    open('/chat');
    await heading('Support Chat');
    expect(sidebar().getByRole('link', { name: /^Support Chat/u })).toHaveAttribute('aria-current', 'page');
  });

  it.each([
    ['the floating button', () => screen.getByRole('button', { name: 'Back to Dashboard' })],
    ['the button of the top bar', () => within(screen.getByRole('banner')).getByRole('button', { name: 'Dashboard' })],
    ['the quick button of the sidebar', () => sidebar().getByRole('button', { name: 'Main Dashboard' })],
  ])('leads back by %s', async (_, button) => {
    const { user } = open('/antivirus');
    await heading('Antivirus');
    await user.click(button());
    await heading('Security dashboard');
  });

  it('links only screens that exist', async () => {
    open('/dashboard');
    await heading('Security dashboard');
    const links = sidebar().getAllByRole('link', { name: /^(?!\+|help@)/u });
    expect(links.map((link) => link.getAttribute('href'))).toEqual([
      '/dashboard',
      '/antivirus',
      '/firewall',
      '/remote',
      '/live-chat',
      '/anti-hacking',
      '/subscription-manager',
      '/scam-check',
      '/web-protection',
      '/household',
      '/devices',
      '/help',
    ]);
    const more = within(sidebar().getByRole('navigation', { name: 'Tools and help' }));
    expect(textsOf(more.getAllByRole('link'))).toEqual(['Scam check', 'Web protection', 'Household', 'Devices', 'Help']);
  });

  it('says where the person is when there is nothing', async () => {
    open('/nowhere');
    await heading('Page not found');
    expect(screen.getByRole('link', { name: 'Go to the dashboard' })).toHaveAttribute('href', '/dashboard');
  });

  // proves: support-staff-25
  it('shows the version and whom to ask', async () => {
    open('/dashboard');
    await heading('Security dashboard');
    expect(sidebar().getByText('v3.7.9')).toBeVisible();
    expect(await sidebar().findByText('Support, available 24/7')).toBeVisible();
    expect(sidebar().getByText('Response under 30 seconds')).toBeVisible();
    // Beside what is promised stands what was measured, where something was.
    expect(await sidebar().findByText('Measured in the last 7 days: 4 minutes')).toBeVisible();
    expect(sidebar().getByRole('link', { name: '+1 800 555 0199' })).toHaveAttribute('href', 'tel:+1 800 555 0199');
    expect(sidebar().getByRole('link', { name: 'help@example.com' })).toHaveAttribute('href', 'mailto:help@example.com');
  });

  it('tells that the last call got through, and that one did not', async () => {
    const { user } = open('/antivirus');
    await heading('Antivirus');
    const pills = within(within(screen.getByRole('banner')).getByRole('status'));
    expect(await pills.findByText('Online')).toBeVisible();
    server.lose(listScans);
    await user.click(await screen.findByRole('button', { name: 'Refresh' }));
    expect(await pills.findByText('Offline')).toBeVisible();
    expect(pills.queryByText('Protected')).not.toBeInTheDocument();
  });

  it('counts down what the server asked to wait, keeps the person signed in, and is done with it', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
    const { user } = open('/antivirus');
    await heading('Antivirus');
    const pills = within(within(screen.getByRole('banner')).getByRole('status'));
    server.on(listScans, refusal('too_many_requests', { retry_after: 2 }));
    await user.click(await screen.findByRole('button', { name: 'Refresh' }));
    expect(await pills.findByText(/^Too many requests, wait/)).toHaveTextContent('wait 0:02');
    expect(currentSession()).toBeDefined();
    server.answer(listScans, []);
    await act(() => vi.advanceTimersByTimeAsync(2_000));
    expect(pills.queryByText(/Too many requests/)).not.toBeInTheDocument();
  });

  it('warns administrators, and nobody else, of local exposure that others may reach', async () => {
    server.answer(readConfig, { ...CONFIG, open_local: true });
    open('/dashboard');
    await heading('Security dashboard');
    await act(refreshConfig);
    expect(screen.queryByRole('region', { name: 'Exposure' })).not.toBeInTheDocument();
    act(() => startSession({ access_token: 'token-1', user_info: { ...MARIA, role: 'admin' } }));
    expect(await screen.findByRole('region', { name: 'Exposure' })).toHaveTextContent('EXPOSURE=public');
    server.answer(readConfig, { ...CONFIG, support: { phone: '+1 800 555 0199', email: 'help@example.com', promise: '' } });
    await act(refreshConfig);
    expect(screen.queryByRole('region', { name: 'Exposure' })).not.toBeInTheDocument();
  });

  describe('tells administrators of proxies', () => {
    const NONE = { behind_proxy: null, untrusted: [] };
    const since = '2026-11-20T10:00:00Z';
    const banner = () => screen.queryByRole('region', { name: 'Proxies' });
    const asAdmin = () => startSession({ access_token: 'token-1', user_info: { ...MARIA, role: 'admin' } });

    it.each([
      ['old_http', 'spoke HTTP/1.0'],
      ['forwarding_header', 'header that proxies write'],
      ['header_names', 'HAProxy'],
    ] as const)('on every page, until they have read it: %s', async (sign, words) => {
      asAdmin();
      server.answer(readProxyFindings, { behind_proxy: { since, sign }, untrusted: [] });
      const { user, router } = open('/dashboard');
      await waitFor(() => expect(banner()).toHaveTextContent(words));
      expect(banner()).toHaveTextContent('EXPOSURE=public');
      expect(banner()).toHaveTextContent('PUBLIC_URL');
      await act(() => router.navigate('/nowhere'));
      expect(banner()).toBeVisible();
      server.answer(clearProxyFindings, undefined);
      server.answer(readProxyFindings, NONE);
      await user.click(screen.getByRole('button', { name: 'I have read this' }));
      await waitFor(() => expect(banner()).not.toBeInTheDocument());
    });

    it('that the settings do not name, and says what cannot be saved', async () => {
      asAdmin();
      const untrusted = [{ address: '10.1.2.3', since, sign: 'forwarding_header' as const }];
      server.answer(readProxyFindings, { behind_proxy: null, untrusted });
      const { user } = open('/dashboard');
      await waitFor(() => expect(banner()).toHaveTextContent('TRUSTED_PROXIES does not name: 10.1.2.3'));
      server.on(clearProxyFindings, refusal('internal'));
      await user.click(screen.getByRole('button', { name: 'I have read this' }));
      expect(await screen.findByRole('alert')).toHaveTextContent('This could not be saved. Try again.');
    });

    it('and nobody else', async () => {
      open('/dashboard');
      await heading('Security dashboard');
      expect(server.calls.filter(({ path }) => path.includes('/admin/proxies'))).toEqual([]);
    });
  });

  it('says on every screen that something is shared, with Pause and End session, until nothing is', async () => {
    server.answer(listRemoteSessions, []);
    const { router } = open('/dashboard');
    await heading('Security dashboard');
    expect(screen.queryByRole('region', { name: 'Screen sharing' })).not.toBeInTheDocument();
    act(() => tellSharing({ technician: '<b>tina</b>', is_shown: true, is_paused: false, voice: 'off' }));
    const banner = within(await screen.findByRole('region', { name: 'Screen sharing' }));
    expect(banner.getByText('<b>tina</b>')).toBeVisible();
    expect(banner.getByRole('button', { name: 'Pause' })).toHaveAttribute('aria-keyshortcuts', 'Alt+Shift+P');
    expect(banner.getByRole('button', { name: 'End session' })).toHaveAttribute('aria-keyshortcuts', 'Alt+Shift+S');
    act(() => tellSharing({ technician: '<b>tina</b>', is_shown: true, is_paused: false, voice: 'open' }));
    expect(banner.getByText('Your microphone is on.')).toBeVisible();
    await act(() => router.navigate('/antivirus'));
    await heading('Antivirus');
    expect(banner.getByRole('button', { name: 'End session' })).toBeVisible();
    act(() => tellSharing(undefined));
    expect(screen.queryByRole('region', { name: 'Screen sharing' })).not.toBeInTheDocument();
  });

  it('says on every screen that somebody asks to see theirs, and that a session runs elsewhere, with its end', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
    const asked = sessionOf({
      phase: 'claimed',
      support_agent: '<b>tina</b>',
      due_at: new Date(Date.now() + 290_000).toISOString(),
    });
    server.answer(listRemoteSessions, [asked]);
    const { user } = open('/firewall');
    await heading('Firewall');
    expect(server.callsOf(listRemoteSessions)).toEqual([]);
    act(() => noteRemoteNews());
    const notice = () => within(screen.getByRole('region', { name: 'Remote session' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('<b>tina</b> asks to see your screen.');
    expect(notice().getByText('4:50')).toBeVisible();
    expect(notice().getByRole('link', { name: 'Look and answer' })).toHaveAttribute('href', '/remote');
    expect(notice().getByRole('button', { name: 'Decline' })).toBeEnabled();
    // It stays on the next one, and nothing puts it away.
    await user.click(sidebar().getByRole('link', { name: 'Antivirus' }));
    await heading('Antivirus');
    expect(textsOf(notice().getAllByRole('button'))).toEqual(['Decline']);

    const running = { ...asked, status: 'active' as const, phase: 'active' as const, share: 'running' as const };
    server.answer(listRemoteSessions, [running]);
    await act(() => vi.advanceTimersByTimeAsync(SESSION_POLL_INTERVAL));
    expect(await screen.findByText(/They see what you share in another window/u)).toBeVisible();
    server.on(at(completeSession, asked), () => {
      const ended = { ...running, status: 'completed' as const, phase: 'ended' as const };
      server.answer(listRemoteSessions, [ended]);
      return reply(completeSession, ended);
    });
    await user.click(notice().getByRole('button', { name: 'End session' }));
    await waitFor(() => expect(screen.queryByRole('region', { name: 'Remote session' })).not.toBeInTheDocument());
  });

  it('brings a technician to the desk, and everyone else to the dashboard', async () => {
    server.on(readCounts, refusal('internal'));
    startSession({ access_token: 'token-1', user_info: { ...MARIA, role: 'support' } });
    const { router } = open('/');
    await waitFor(() => expect(router.state.location.pathname).toBe('/support'));
    const group = within(await screen.findByRole('navigation', { name: 'Support' }));
    expect(group.getAllByRole('link').map(({ textContent }) => textContent?.trim())).toEqual([
      'Support Desk',
      'Portal',
      'Saved replies',
    ]);
  });

  it('keeps the group of the screen unfolded, and one other as chosen', async () => {
    localStorage.removeItem('palisade.open_group');
    server.on(readCounts, refusal('internal'));
    server.on(readOverview, refusal('internal'));
    startSession({ access_token: 'token-1', user_info: { ...MARIA, role: 'admin' } });
    const first = open('/antivirus');
    const toggle = async (name: string) => await screen.findByRole('button', { name });
    expect(await toggle('People')).toHaveAttribute('aria-expanded', 'true');
    await first.user.click(await toggle('Records'));
    expect(await toggle('Records')).toHaveAttribute('aria-expanded', 'true');
    expect(await toggle('People')).toHaveAttribute('aria-expanded', 'false');
    expect(screen.queryByRole('link', { name: 'Users' })).not.toBeInTheDocument();
    cleanup();
    const second = open('/antivirus');
    expect(await toggle('Records')).toHaveAttribute('aria-expanded', 'true');
    await second.user.click(await toggle('Records'));
    expect(await toggle('Records')).toHaveAttribute('aria-expanded', 'false');
    await act(() => second.router.navigate('/admin/setup'));
    const settings = within(screen.getByRole('navigation', { name: 'Settings' }));
    expect(settings.queryByRole('button')).not.toBeInTheDocument();
    expect(settings.getByRole('link', { name: 'Setup' })).toHaveAttribute('aria-current', 'page');
    expect(settings.getByRole('link', { name: 'Edit help pages' })).toHaveAttribute('href', '/admin/help');
    const breadcrumb = within(screen.getByRole('navigation', { name: 'Breadcrumb' }));
    expect(textsOf(breadcrumb.getAllByRole('listitem'))).toEqual(['Dashboard', 'Settings', 'Admin Setup']);
    localStorage.removeItem('palisade.open_group');
  });

  it('has the desk with its count in the dock of a technician', async () => {
    const none = { mine: 0, unassigned: 0, all: 0, snoozed: 0, closed: 0, remote_waiting: 1, remote_customers: [], tags: [] };
    server.answer(readCounts, { ...none, mine_unread: 2, unassigned_waiting: 1 });
    startSession({ access_token: 'token-1', user_info: { ...MARIA, role: 'support' } });
    open('/antivirus');
    await heading('Antivirus');
    const dock = () => screen.getAllByRole('navigation', { name: 'Main' }).slice(-1);
    const items = () => dock().flatMap((one) => textsOf(within(one).getAllByRole('link')));
    await waitFor(() =>
      expect(items()).toEqual([
        'Dashboard',
        'Support Desk33 conversations wait',
        'Portal11 customer waits for remote help',
        'Antivirus',
      ]),
    );
  });

  it('has the rest behind More on the phone', async () => {
    const { user } = open('/dashboard');
    await heading('Security dashboard');
    await user.click(screen.getByRole('button', { name: 'More' }));
    const more = within(screen.getByRole('dialog', { name: 'More' }));
    expect(more.getByRole('button', { name: 'Main Dashboard' })).toBeVisible();
    await user.click(more.getByRole('button', { name: 'Close' }));
    expect(screen.queryByRole('dialog', { name: 'More' })).not.toBeInTheDocument();
    // A link that opens another window closes the panel here.
    await user.click(screen.getByRole('button', { name: 'More' }));
    await user.click(more.getByRole('link', { name: /^Support Chat/ }));
    expect(screen.queryByRole('dialog', { name: 'More' })).not.toBeInTheDocument();
  });
});

const menuButton = () => screen.getByRole('button', { name: 'Security User menu' });

/** The menu is fetched when it is reached for, and its button is then another one. */
async function openMenu(user: ReturnType<typeof userEvent.setup>): Promise<void> {
  await user.click(menuButton());
  await screen.findByRole('menu');
}

describe('the user menu', () => {
  /** The shell around a screen that draws nothing and asks for nothing. */
  async function openQuiet() {
    const opened = open('/nowhere');
    await heading('Page not found');
    return opened;
  }

  it('says who is signed in, switches the colours, and closes with Escape', async () => {
    const { user } = await openQuiet();
    await openMenu(user);
    expect(screen.getByText('maria@example.com')).toBeVisible();
    await user.click(screen.getByRole('menuitemradio', { name: 'Light' }));
    expect(screen.getByRole('menuitemradio', { name: 'Light' })).toBeChecked();
    expect(document.documentElement).toHaveAttribute('data-mantine-color-scheme', 'light');
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('menu')).not.toBeInTheDocument();
    expect(menuButton()).toHaveFocus();
  });

  it('goes through its items with the arrow keys', async () => {
    const { user } = await openQuiet();
    await openMenu(user);
    await waitFor(() => expect(screen.getByRole('menuitem', { name: 'Profile Settings' })).toHaveFocus());
    await user.keyboard('{End}');
    expect(screen.getByRole('menuitem', { name: 'Sign Out' })).toHaveFocus();
    await user.keyboard('{ArrowDown}');
    expect(screen.getByRole('menuitem', { name: 'Profile Settings' })).toHaveFocus();
  });

  it('has an example contact, marked as such, until Admin Setup was done', async () => {
    server.answer(readConfig, CONFIG);
    const { user } = await openQuiet();
    await act(refreshConfig);
    const footer = within(sidebar().getByRole('contentinfo'));
    expect(footer.getByText('Support, available 24/7')).toBeVisible();
    expect(footer.getByText('Response under 30 seconds')).toBeVisible();
    expect(footer.getByRole('link', { name: 'support@example.com' })).toBeVisible();
    expect(footer.getByRole('button', { name: 'Example contact' })).toBeVisible();
    await openMenu(user);
    expect(screen.getByRole('menuitem', { name: 'Call support' })).toHaveAttribute('href', 'tel:+1 555-0100');
    expect(screen.getByRole('menuitem', { name: 'Email support' })).toHaveTextContent('Example');
    // The settings are those of the page, which stays open.
    server.answer(readConfig, { ...CONFIG, support: { phone: '+1 800 555 0199', email: 'help@example.com', promise: '' } });
    await act(refreshConfig);
  });

  it('has the initial in the document, and two pills at rest', async () => {
    await openQuiet();
    expect(screen.getByRole('button', { name: 'Security User menu' })).toHaveTextContent(/M$/u);
    const pills = within(screen.getByRole('banner')).getByRole('status');
    await waitFor(() => expect(pills).toHaveTextContent('OnlineScans uploads'));
    // Where there is room for a shield alone, its title says what it is.
    expect(within(pills).getByTitle('Nothing checked yet')).toBeVisible();
  });

  it('names the danger before the protection, in the tone of the one status', async () => {
    const infection = { title: 'An infected file is not deleted yet', is_danger: true };
    const status = { ...statusOf(infection, {}), protected_by: ['scans' as const] };
    server.answer(readDashboard, dashboardOf({ status }));
    await openQuiet();
    const pill = await screen.findByRole('link', { name: '1 danger · 1 to do' });
    expect(pill).toHaveAttribute('data-tone', 'danger');
    expect(pill).toHaveAttribute('title', infection.title);
  });

  it('leads to support: chat in a window of its own, phone and mail', async () => {
    const { user } = await openQuiet();
    await openMenu(user);
    const chat = screen.getByRole('menuitem', { name: 'Live chat' });
    expect(chat).toHaveAttribute('href', '/live-chat');
    expect(chat).toHaveAttribute('target', '_blank');
    expect(screen.getByRole('menuitem', { name: 'Call support' })).toHaveAttribute('href', 'tel:+1 800 555 0199');
    expect(screen.getByRole('menuitem', { name: 'Email support' })).toHaveAttribute('href', 'mailto:help@example.com');
  });

  it.each([
    ['Profile Settings', currentUser, MARIA_ACCOUNT],
    ['Security Preferences', listSessions, []],
  ] as const)('%s closes the menu and opens a dialog, the route does not change', async (name, endpoint, content) => {
    server.on(endpoint, { status: 200, text: JSON.stringify(content) });
    const { user, router } = await openQuiet();
    await openMenu(user);
    await user.click(screen.getByRole('menuitem', { name }));
    const dialog = await screen.findByRole('dialog', { name });
    expect(screen.queryByRole('menu')).not.toBeInTheDocument();
    expect(router.state.location.pathname).toBe('/nowhere');
    await user.click(within(dialog).getByRole('button', { name: 'Close' }));
    expect(screen.queryByRole('dialog', { name })).not.toBeInTheDocument();
    expect(menuButton()).toHaveFocus();
  });

  it('leads administrators, and nobody else, to setup and outbox', async () => {
    const { user } = await openQuiet();
    await openMenu(user);
    expect(screen.queryByRole('menuitem', { name: 'Admin Setup' })).not.toBeInTheDocument();
    await user.keyboard('{Escape}');
    act(() => startSession({ access_token: 'token-1', user_info: { ...MARIA, role: 'admin' } }));
    await openMenu(user);
    expect(screen.getByRole('menuitem', { name: 'Admin Setup' })).toHaveAttribute('href', '/admin/setup');
    expect(screen.getByRole('menuitem', { name: 'Outbox' })).toHaveAttribute('href', '/admin/outbox');
  });

  // proves: product-2.10-1
  it('has a group in the sidebar for administrators, with what waits', async () => {
    const waiting = { ...NOTHING_WAITS, plan_requests: 2, false_alarms: 1, mails: 120, jobs: 1 };
    const first_steps = { provider: true, second_factor: true, first_scan: true, others: true };
    server.answer(readOverview, { waiting, is_mail_connected: true, first_steps });
    open('/antivirus');
    await heading('Antivirus');
    expect(screen.queryByRole('navigation', { name: 'People' })).not.toBeInTheDocument();
    act(() => startSession({ access_token: 'token-1', user_info: { ...MARIA, role: 'admin' } }));
    const group = async (name: string) => within(await screen.findByRole('navigation', { name }));
    expect(await (await group('People')).findByRole('link', { name: 'Plan requests 2 plan requests wait' })).toHaveAttribute(
      'href',
      '/subscription-manager?tab=manage',
    );
    expect((await group('People')).getByRole('link', { name: 'Outbox 120 emails wait' })).toHaveTextContent('99+');
    expect((await group('People')).getByRole('link', { name: 'Users' })).toHaveAttribute('href', '/admin/users');
    // A folded group shows the sum.
    const user = userEvent.setup();
    await user.click(await screen.findByRole('button', { name: 'Support 1 waits' }));
    expect((await group('Support')).getByRole('link', { name: 'False alarms 1 report waits' })).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Settings 1 waits' }));
    expect((await group('Settings')).getByRole('link', { name: 'Setup 1 task failed' })).toBeVisible();
    expect(screen.getByRole('button', { name: 'People 122 wait' })).toBeVisible();
    localStorage.removeItem('palisade.open_group');
  });

  it('signs out on the server and in this browser', async () => {
    server.answer(logout, undefined);
    const { user } = await openQuiet();
    await openMenu(user);
    await user.click(screen.getByRole('menuitem', { name: 'Sign Out' }));
    await waitFor(() => expect(currentSession()).toBeUndefined());
    expect(server.callsOf(logout)).toHaveLength(1);
    expect(localStorage.getItem('palisade.access_token')).toBeNull();
  });
});
