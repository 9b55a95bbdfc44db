import { readDashboard } from '@palisade/contract/dashboard';
import { readConfig } from '@palisade/contract/platform';
import { act, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CONFIG, dashboardOf, NO_PLAN, PREMIUM_PLAN, scanOf, statusOf } from '#api/fake-records.ts';
import { FakeServer } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { DashboardPage } from './dashboard-page.tsx';
import { StatCards } from './stat-cards.tsx';

const server = FakeServer.ofEachTest();

beforeEach(() => {
  server.answer(readConfig, CONFIG);
});

afterEach(() => {
  vi.useRealTimers();
});

const card = (name: string) => screen.getByRole('region', { name });

describe('the dashboard', () => {
  it('has a clock that ticks each second', () => {
    vi.useFakeTimers({ now: new Date(2026, 10, 20, 10, 24, 7) });
    server.on(readDashboard, () => new Promise(() => undefined));
    renderForTest(<DashboardPage />);
    expect(screen.getByRole('timer')).toHaveTextContent('10:24:07');
    act(() => {
      vi.advanceTimersByTime(2_000);
    });
    expect(screen.getByRole('timer')).toHaveTextContent('10:24:09');
  });

  // proves: product-1.3-1, product-1.3-5
  it('answers first, and shows the score with what would raise it', async () => {
    const recent_scans = [
      scanOf({ scan_status: 'pending', status_detail: 'encrypted' }),
      scanOf({ scan_status: 'infected' }),
      scanOf(),
    ];
    const score_breakdown = [
      { id: 'port_22_open', title: 'Port 22 (SSH) is open', deduction: 8, gain: 8, fix_route: '/firewall' },
    ];
    const infection = {
      ...{ title: 'An infected file is not deleted yet', evidence: 'Delete "a.exe".', action: 'See what to do', is_danger: true },
      ...{ fix_route: '/antivirus?scan=1', deduction: 20, gain: 20 },
    };
    const status = statusOf(
      infection,
      { title: 'Port 22 (SSH) is open' },
      { id: 'port_23', title: 'Port 23 is open', deduction: 4, gain: 6 },
    );
    server.answer(readDashboard, dashboardOf({ recent_scans, security_score: 92, score_breakdown, status }));
    renderForTest(<DashboardPage />);
    expect(await screen.findByRole('heading', { name: 'An infected file is not deleted yet' })).toBeVisible();
    expect(screen.getByRole('link', { name: 'See what to do' })).toHaveAttribute('href', '/antivirus?scan=1');
    expect(card('Security Score')).toHaveTextContent('92%');
    expect(card('Security Score')).toHaveTextContent('1 to fix, 16 couldn’t runMost need a connected computer');
    expect(screen.getByRole('link', { name: '−8 Port 22 (SSH) is open Fix' })).toHaveAttribute('href', '/firewall');
    expect(screen.getByRole('link', { name: '−4 Port 23 is open +6 if fixed Fix' })).toBeVisible();
    const last = card('Last Deep Scan');
    expect(last).toHaveTextContent('COMPLETE');
    expect(within(last).getByRole('time')).toHaveAttribute('datetime', recent_scans[1]?.scanned_at);
  });

  it('shows no score before enough was checked for one', async () => {
    const score_breakdown = [{ id: 'no_two_factor', title: 'Only a password', deduction: 0, gain: 0, fix_route: '/dashboard' }];
    const status = { ...statusOf({ id: 'no_two_factor' }), is_scored: false };
    server.answer(readDashboard, dashboardOf({ score_breakdown, status }));
    renderForTest(<DashboardPage />);
    expect((await screen.findByText('no score')).closest('p')).toHaveTextContent('–no score');
    expect(card('Security Score')).toHaveTextContent('100%Starting value: 16 checks couldn’t run yet.');
  });

  it('tells apart what a phone shows of many reasons at first, and shows all on demand', async () => {
    const status = statusOf(
      {},
      ...['22', '23', '445', '3389', '5900'].map((port) => ({ id: port, title: `Port ${port} is open` })),
    );
    server.answer(readDashboard, dashboardOf({ security_score: 60, status }));
    renderForTest(<DashboardPage />);
    const all = await screen.findByRole('button', { name: 'Show all 5' });
    const rows = within(screen.getByRole('list', { name: 'Then' })).getAllByRole('listitem');
    expect(rows.map((row) => row.dataset['later'])).toEqual(['false', 'false', 'false', 'true', 'true']);
    expect(all).toHaveAttribute('aria-expanded', 'false');
    await userEvent.click(all);
    expect(screen.getByRole('button', { name: 'Show 3' })).toHaveAttribute('aria-expanded', 'true');
  });

  it('says that the last deep scan is pending when no file was read whole', async () => {
    const recent_scans = [scanOf({ scan_status: 'pending', status_detail: 'encrypted' })];
    server.answer(readDashboard, dashboardOf({ recent_scans }));
    renderForTest(<DashboardPage />);
    expect(await screen.findByText('PENDING')).toBeVisible();
  });

  it('offers the first scan when there is none', async () => {
    server.answer(readDashboard, dashboardOf());
    renderForTest(<DashboardPage />);
    expect(await screen.findByText('No scans yet')).toBeVisible();
    expect(card('Security Score')).toHaveTextContent('100%Starting value: 16 checks couldn’t run yet.');
    expect(screen.getByRole('heading', { name: 'Nothing checked yet' })).toBeVisible();
    expect(within(card('Activity')).queryByRole('link')).not.toBeInTheDocument();
    expect(screen.getByRole('link', { name: 'Scan a file' })).toHaveAttribute('href', '/antivirus');
  });
});

describe('the simulated counters', () => {
  /** `random` 0.99 gives the most: threats +5, rules +2. */
  async function start() {
    vi.useFakeTimers({ now: new Date(2026, 10, 20, 10, 24, 7) });
    server.answer(readDashboard, dashboardOf());
    renderForTest(<DashboardPage random={() => 0.99} />);
    await pass(0);
  }
  const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
  const figures = () =>
    [card('Threats Neutralized'), card('Firewall Rules')].map((tile) => tile.querySelector('.num')?.textContent);

  it('give way to measured figures, and stay next to them, small and marked', async () => {
    const status = dashboardOf({ recent_scans: [scanOf({ scan_status: 'infected' })] });
    server.answer(readDashboard, { ...status, measured: { ...status.measured, firewall_rules: 12 } });
    renderForTest(<DashboardPage />);
    await screen.findByRole('region', { name: 'Firewall Rules' });
    const rules = card('Firewall Rules');
    expect(rules.querySelector('.stat-card__value')).toHaveTextContent('12');
    expect(rules).toHaveTextContent(/measured on this account.*Simulated.*8/u);
  });

  it('start at 67 and 8, marked, while nothing was measured', async () => {
    await start();
    expect(figures()).toEqual(['67', '8']);
    expect(within(card('Threats Neutralized')).getByText('Simulated')).toBeVisible();
    expect(card('Threats Neutralized')).toHaveTextContent('0 measured on this account');
    expect(card('Firewall Rules')).toHaveTextContent('0 measured on this account');
  });

  it('rise once after 10 s, and every 120 s while real-time updates are on', async () => {
    await start();
    await pass(9_999);
    expect(figures()).toEqual(['67', '8']);
    await pass(1);
    expect(figures()).toEqual(['72', '10']);
    await pass(109_999);
    expect(figures()).toEqual(['72', '10']);
    await pass(1);
    expect(figures()).toEqual(['77', '12']);
    const toggle = screen.getByRole('switch', { name: 'Real-time updates' });
    expect(toggle).toBeChecked();
    act(() => toggle.click());
    await pass(500_000);
    expect(figures()).toEqual(['77', '12']);
    act(() => toggle.click());
    await pass(120_000);
    expect(figures()).toEqual(['82', '14']);
  });
});

describe('with a device', () => {
  it('no figure is simulated or a sample', async () => {
    const devices = { count: 1, online: 1, health: null, last_deep_scan: null, blocked_last_hour: 0, blocked_total: 0 };
    server.answer(readDashboard, dashboardOf({ devices }));
    renderForTest(<DashboardPage />);
    await screen.findByText('No device has measured anything yet.');
    expect(card('Threats Neutralized')).toHaveTextContent('0measured on this account');
    expect(screen.queryByText(/^(?:Simulated|Sample)$/u)).not.toBeInTheDocument();
  });
});

describe('without the demo', () => {
  it('the figures are measured alone', () => {
    const recent_scans = [scanOf({ scan_status: 'infected' })];
    renderForTest(<StatCards status={dashboardOf({ recent_scans })} simulated={undefined} />);
    expect(card('Threats Neutralized')).toHaveTextContent('1measured on this account');
    expect(screen.queryByText('Simulated')).not.toBeInTheDocument();
  });

  it('harmless test files are no threats, as on the other screens', () => {
    const status = dashboardOf();
    const measured = { ...status.measured, threats_neutralized: 4, test_files_neutralized: 3 };
    renderForTest(<StatCards status={{ ...status, measured }} simulated={undefined} />);
    expect(card('Threats Neutralized')).toHaveTextContent('13 harmless test files, not counted');
  });
});

describe('the plan', () => {
  it('shows name, badge, price, expiry, and four features of more', async () => {
    server.answer(readDashboard, dashboardOf({ subscription: PREMIUM_PLAN }));
    renderForTest(<DashboardPage />);
    const plan = within(await screen.findByRole('region', { name: 'Family Shield' }));
    expect(plan.getByText('PREMIUM')).toBeVisible();
    expect(plan.getByText('$19.99 USD').parentElement).toHaveTextContent('$19.99 USD for 12 months');
    expect(plan.getAllByRole('listitem')).toHaveLength(4);
    expect(plan.getByText('+2 more')).toBeVisible();
    expect(plan.getByText('November 20, 2027')).toBeVisible();
  });

  it('is BASIC NEURAL ACCESS without a subscription, with a way to upgrade', async () => {
    server.answer(readDashboard, dashboardOf());
    renderForTest(<DashboardPage />);
    const plan = within(await screen.findByRole('region', { name: 'BASIC NEURAL ACCESS' }));
    expect(plan.getByRole('button', { name: 'Upgrade' })).toBeVisible();
  });

  it('says that a plan is requested, and since when, and offers it no second time', async () => {
    const subscription = { ...NO_PLAN, requested_at: '2026-11-20T10:00:00.000Z' };
    server.answer(readDashboard, dashboardOf({ subscription }));
    renderForTest(<DashboardPage />);
    const plan = within(await screen.findByRole('region', { name: 'BASIC NEURAL ACCESS' }));
    expect(plan.queryByRole('button', { name: 'Upgrade' })).not.toBeInTheDocument();
    expect(plan.getByRole('button', { name: 'Requested on November 20, 2026' })).toBeVisible();
  });
});

describe('next steps', () => {
  it('leads to scanning and the firewall, and opens the live chat in a new window with a word', async () => {
    server.answer(readDashboard, dashboardOf());
    const open = vi.spyOn(window, 'open').mockReturnValue(null);
    const alert = vi.spyOn(window, 'alert').mockReturnValue();
    renderForTest(<DashboardPage />);
    expect(await screen.findByRole('link', { name: /^Scan files/u })).toHaveAttribute('href', '/antivirus');
    expect(screen.getByRole('link', { name: /^Configure firewall/u })).toHaveAttribute('href', '/firewall');
    await userEvent.click(screen.getByRole('button', { name: /^AI support/u }));
    expect(open).toHaveBeenCalledWith('/live-chat', '_blank', 'noopener');
    expect(alert).toHaveBeenCalledOnce();
  });

  it('shows health bars that say they are samples', async () => {
    server.answer(readDashboard, dashboardOf());
    renderForTest(<DashboardPage />);
    const health = within(await screen.findByRole('region', { name: 'System health' }));
    expect(health.getByText('Sample')).toBeVisible();
    for (const name of ['CPU', 'Memory', 'Network']) expect(health.getByRole('meter', { name })).toBeVisible();
  });
});
