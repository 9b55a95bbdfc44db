import { listSuppressions, readMonitor } from '@palisade/contract/alerts';
import {
  listAlerts,
  type PostureScan,
  readHistory,
  readLastCheck,
  readLiveFeed,
  readStats,
  scanPosture,
  simulateThreat,
} from '@palisade/contract/anti-hacking';
import { listBlocks } from '@palisade/contract/blocks';
import { currentSubscription } from '@palisade/contract/current-subscription';
import { readConfig } from '@palisade/contract/platform';
import { listPlans } from '@palisade/contract/subscription';
import { act, screen, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { alertCountsOf, alertOf, CONFIG, monitorOf, NO_PLAN, PREMIUM_PLAN, statsOf } from '#api/fake-records.ts';
import { FakeServer, refusal, reply } from '#api/fake-server.ts';
import { renderForTest, textsOf } from '#ui/render-for-test.tsx';
import { AntiHackingPage } from './anti-hacking-page.tsx';
import { cutDescription } from './live-feed.tsx';

const server = FakeServer.ofEachTest();

const RESULT: PostureScan = {
  threats_detected: 3,
  threats_blocked: 2,
  test_files: 1,
  status: 'issues_found',
  vulnerabilities_found: ['Port 22 (SSH) is open to the whole world. Opened by "<b>ssh</b>".'],
  recommendations: ['Limit who may reach port 22.'],
  findings: [
    {
      id: 'no_two_factor',
      title: 'Only a password protects your sign-in',
      severity: 'medium',
      evidence: 'We can’t check this yet.',
      fix_route: '/dashboard',
      deduction: 0,
      gain: 0,
      state: 'unknown',
    },
    {
      id: 'port_22_open',
      title: 'Port 22 (SSH) is open to the whole world',
      severity: 'high',
      evidence: 'Opened by "<b>ssh</b>".',
      fix_route: '/firewall',
      deduction: 8,
      gain: 8,
      state: 'fail',
    },
  ],
  coverage: '1 of 2 checks could run.',
};

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-11-20T10:24:07.000Z') });
  server.answer(readConfig, CONFIG);
  server.answer(currentSubscription, PREMIUM_PLAN);
  server.answer(listAlerts, []);
  server.answer(readMonitor, monitorOf());
  server.answer(listSuppressions, []);
  server.answer(listBlocks, []);
  server.answer(readLastCheck, { last: null });
  server.answer(readHistory, []);
  server.answer(readStats, statsOf());
  server.answer(readLiveFeed, { live_threats: [], current_stats: statsOf() });
});

afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
/** Until what was asked for has been answered, and what the answers ask for too: a few ms, because a fake timer within another takes one. */
async function settle() {
  for (let round = 0; round < 5; round += 1) await pass(1);
}
const press = async (role: 'button' | 'switch', name: string) => {
  act(() => screen.getByRole(role, { name }).click());
  await settle();
};

/** `chances` are what the page draws, in order; afterwards nothing happens by chance. */
async function open(...chances: number[]) {
  renderForTest(<AntiHackingPage securityDialog={() => <p>Security Preferences</p>} random={() => chances.shift() ?? 1} />);
  await settle();
}

describe('without premium', () => {
  it('the screen is locked, and leads to an upgrade', async () => {
    server.answer(currentSubscription, NO_PLAN);
    await open();
    expect(screen.getByRole('heading', { name: 'Premium access required' })).toBeVisible();
    expect(screen.getAllByRole('listitem').length).toBeGreaterThan(0);
    expect(screen.getByRole('button', { name: 'Upgrade' })).toBeVisible();
    expect(server.callsOf(listAlerts)).toEqual([]);
  });

  it('without a plan on offer the locked screen leads to the chat', async () => {
    server.answer(currentSubscription, NO_PLAN);
    server.answer(listPlans, []);
    await open();
    expect(screen.getByRole('link', { name: 'Ask for a plan' })).toHaveAttribute('href', '/chat');
  });

  it('the locked screen says that a plan is requested, and since when', async () => {
    server.answer(currentSubscription, { ...NO_PLAN, requested_at: '2026-11-20T10:00:00.000Z' });
    await open();
    expect(screen.getByText('Requested on November 20, 2026. An administrator will answer.')).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Upgrade' })).not.toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'See your request' })).toBeVisible();
  });

  it('an expiry that the alerts tell of locks the screen with the message', async () => {
    server.on(listAlerts, refusal('premium_required'));
    server.on(readStats, refusal('premium_required'));
    await open();
    expect(screen.getByRole('heading', { name: 'Premium access required' })).toBeVisible();
    expect(screen.getByRole('alert')).toHaveTextContent('Premium subscription required for anti-hacking features');
  });
});

describe('the alerts', () => {
  it('are none at first', async () => {
    await open();
    expect(screen.getByText('No active threats')).toBeVisible();
  });

  it('tell what happened, how grave it is, what was done, when, and from where', async () => {
    const hostile = alertOf({
      description: '<script>alert(1)</script>',
      threat_type: 'quantum_attack',
      severity: 'critical',
      blocked: false,
      ip_address: null,
    });
    server.answer(listAlerts, [alertOf({ simulated: true }), hostile]);
    await open();
    const [first, second] = within(screen.getByRole('list', { name: 'Alerts' }))
      .getAllByRole('listitem')
      .map((item) => within(item));
    for (const text of ['Brute Force', 'medium', 'SIMULATED', 'NEUTRALIZED', '192.0.2.1'])
      expect(first?.getByText(text)).toBeVisible();
    expect(first?.getByText(/^Detected/u)).toBeVisible();
    for (const text of ['quantum attack', 'critical', '<script>alert(1)</script>']) expect(second?.getByText(text)).toBeVisible();
    expect(second?.queryByText('NEUTRALIZED')).not.toBeInTheDocument();
    expect(second?.queryByText(/Source IP/u)).not.toBeInTheDocument();
  });

  it('that cannot be fetched are said to be, and are fetched on Refresh', async () => {
    server.on(listAlerts, refusal('internal'));
    await open();
    expect(screen.getByRole('alert')).toHaveTextContent('Error fetching anti-hacking alerts');
    server.answer(listAlerts, [alertOf({ description: 'found again' })]);
    await press('button', 'Refresh');
    expect(screen.getByText('found again')).toBeVisible();
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
  });

  it('push down nothing: the cards below come after the last of them', async () => {
    const alerts = Array.from({ length: 50 }, () => alertOf());
    server.answer(listAlerts, alerts);
    let drawnBefore: number | undefined;
    const observer = new MutationObserver(() => {
      if (screen.queryByText('Security check')) drawnBefore ??= document.querySelectorAll('.alert-row').length;
    });
    observer.observe(document.body, { childList: true, subtree: true });
    await open();
    observer.disconnect();
    expect(drawnBefore).toBe(alerts.length);
  });

  it('wait for the answers of the cards below, so that LIVE does not move under a press', async () => {
    let drawnWith: string | null | undefined;
    const observer = new MutationObserver(() => {
      if (screen.queryByRole('switch', { name: 'LIVE' })) drawnWith ??= document.body.textContent;
    });
    observer.observe(document.body, { childList: true, subtree: true });
    await open();
    observer.disconnect();
    expect(drawnWith).toContain('No sign-ins are blocked');
    expect(drawnWith).not.toContain('Loading the blocks');
  });

  it('are not drawn again by an answer that changes none of them', async () => {
    const alerts = Array.from({ length: 3 }, () => alertOf());
    server.answer(listAlerts, alerts);
    // Each drawing of an alert writes the address that shows it to support.
    const written = vi.spyOn(URLSearchParams.prototype, 'toString');
    const drawn = () => written.mock.results.filter(({ value }) => String(value).startsWith('share=alert')).length;
    await open();
    expect(drawn()).toBe(alerts.length);
    server.answer(readMonitor, monitorOf({ alerts: alertCountsOf({ active: 3, real: 3 }) }));
    await press('button', 'Refresh');
    expect(server.callsOf(readMonitor).length).toBeGreaterThan(1);
    expect(drawn()).toBe(alerts.length);
  });
});

describe('the tiles', () => {
  it('count what happened, and drills beside', async () => {
    server.answer(readStats, statsOf({ threats_blocked_total: 2, simulated_threats_blocked_total: 5 }));
    await open();
    const total = screen.getByRole('region', { name: 'Total Threats Blocked' });
    expect(total.querySelector('.num')).toHaveTextContent('2');
    expect(screen.getByRole('note', { name: 'Not counted' })).toHaveTextContent('Not counted: 5 simulated alerts.');
    for (const name of ['Threats Blocked Today', 'Intrusion Attempts Stopped', 'Brute Force Attempts Blocked']) {
      expect(screen.getByRole('region', { name })).toHaveTextContent('0');
    }
  });

  it('say how many were the harmless files that programs like this one are tried out with', async () => {
    const today = { threats_blocked_today: 1, test_files_blocked_today: 1 };
    server.answer(readStats, statsOf({ ...today, threats_blocked_total: 4, test_files_blocked_total: 1 }));
    await open();
    const count = (name: string) => screen.getByRole('region', { name }).querySelector('.num');
    expect(count('Threats Blocked Today')).toHaveTextContent('0');
    expect(count('Total Threats Blocked')).toHaveTextContent('3');
    expect(screen.getAllByText(/harmless test file/u)).toHaveLength(1);
    expect(screen.getByRole('note', { name: 'Not counted' })).toHaveTextContent('Not counted: 1 harmless test file.');
  });

  it('that cannot be read say so', async () => {
    server.on(readStats, refusal('internal'));
    await open();
    expect(screen.getByText('We couldn’t load the counts')).toBeVisible();
  });
});

describe('live mode', () => {
  // proves: product-3.3-1
  it('reads the feed at once and every 5 s, until it is turned off', async () => {
    await open();
    await pass(60_000);
    expect(server.callsOf(readLiveFeed)).toHaveLength(0);
    await press('switch', 'LIVE');
    expect(server.callsOf(readLiveFeed)).toHaveLength(1);
    await pass(4_990);
    expect(server.callsOf(readLiveFeed)).toHaveLength(1);
    await pass(5);
    expect(server.callsOf(readLiveFeed)).toHaveLength(2);
    await press('switch', 'LIVE');
    await pass(60_000);
    expect(server.callsOf(readLiveFeed)).toHaveLength(2);
  });

  it('shows the 5 latest, their descriptions cut to 50 characters', async () => {
    const live_threats = Array.from({ length: 20 }, (_, index) => alertOf({ description: `${index} ${'x'.repeat(60)}` }));
    server.answer(readLiveFeed, { live_threats, current_stats: statsOf({ threats_blocked_total: 20 }) });
    await open();
    await press('switch', 'LIVE');
    const rows = within(screen.getByRole('list', { name: 'Live feed' })).getAllByRole('listitem');
    expect(rows).toHaveLength(5);
    expect(within(rows[0] ?? document.body).getByText(`0 ${'x'.repeat(47)}…`)).toBeVisible();
    expect(screen.getByRole('region', { name: 'Total Threats Blocked' })).toHaveTextContent('20');
  });

  it('requests a simulated threat with a chance of 15 % and the stats with one of 30 %', async () => {
    const threat = alertOf({ description: 'a drill', simulated: true });
    server.answer(simulateThreat, { success: true, threat_detected: threat });
    await open(0.15, 0.3, 0.1499, 0.3, 0.15, 0.2999);
    await press('switch', 'LIVE');
    const stats = () => server.callsOf(readStats).length;
    const before = stats();
    await pass(5_000);
    expect(server.callsOf(simulateThreat)).toHaveLength(0);
    expect(stats()).toBe(before);
    await pass(5_000);
    expect(server.callsOf(simulateThreat)).toHaveLength(1);
    expect(stats()).toBe(before + 1);
    await pass(5_000);
    expect(server.callsOf(simulateThreat)).toHaveLength(1);
    expect(stats()).toBe(before + 2);
  });

  it('says and logs that the feed could not be read, and reads it on Retry', async () => {
    const log = vi.spyOn(console, 'error').mockReturnValue();
    server.lose(readLiveFeed);
    await open();
    await press('switch', 'LIVE');
    expect(screen.getByRole('alert')).toHaveTextContent('We couldn’t load the live feed');
    expect(log).toHaveBeenCalled();
    server.answer(readLiveFeed, { live_threats: [alertOf()], current_stats: statsOf() });
    await press('button', 'Retry');
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
    expect(screen.getByRole('list', { name: 'Live feed' })).toBeVisible();
  });
});

describe('Simulate Threat', () => {
  it('puts the drill at the head of the live list and refreshes the stats', async () => {
    const threat = alertOf({ description: 'a drill', simulated: true });
    server.answer(simulateThreat, { success: true, threat_detected: threat });
    server.answer(readLiveFeed, { live_threats: [alertOf({ description: 'before' })], current_stats: statsOf() });
    await open();
    await press('switch', 'LIVE');
    server.answer(readStats, statsOf({ simulated_threats_blocked_total: 1 }));
    await press('button', 'Simulate Threat');
    const [head] = within(screen.getByRole('list', { name: 'Live feed' })).getAllByRole('listitem');
    expect(head).toHaveTextContent('a drill');
    expect(head).toHaveTextContent('SIMULATED');
    expect(screen.getByRole('note', { name: 'Not counted' })).toHaveTextContent('1 simulated alert.');
    const added = within(screen.getByRole('list', { name: 'Simulated just now' }));
    expect(added.getByRole('link', { name: 'Brute Force' })).toHaveAttribute('href', expect.stringContaining(threat.id));
  });

  it('keeps live mode on while the first drill gets a list of its own', async () => {
    server.answer(simulateThreat, { success: true, threat_detected: alertOf({ simulated: true }) });
    server.answer(readLiveFeed, { live_threats: [], current_stats: statsOf() });
    await open();
    await press('switch', 'LIVE');
    server.answer(readMonitor, monitorOf({ alerts: alertCountsOf({ active: 1, real: 0 }) }));
    // The list of simulated alerts is on its way.
    server.on(listAlerts, () => new Promise(() => undefined));
    await press('button', 'Simulate Threat');
    expect(screen.getByRole('switch', { name: 'LIVE' })).toBeChecked();
  });

  it('says that it did not work', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    server.on(simulateThreat, refusal('internal'));
    await open();
    await press('button', 'Simulate Threat');
    expect(screen.getByRole('alert')).toHaveTextContent('We couldn’t simulate a threat');
  });
});

describe('the scan', () => {
  it('of an earlier visit stays with its date, and each finding leads to its fix', async () => {
    server.answer(readLastCheck, { last: { checked_at: '2026-11-18T09:00:00.000Z', result: RESULT } });
    await open();
    const panel = within(screen.getByRole('region', { name: 'Security check' }));
    expect(panel.getByText(/^Last checked/u)).toBeVisible();
    // Folded: the status above names what is open.
    expect(panel.getByRole('region', { name: 'Vulnerabilities found' })).not.toBeVisible();
    expect(within(panel.getByText(/^Last checked/u)).getByRole('time')).toHaveAttribute('datetime', '2026-11-18T09:00:00.000Z');
    const found = within(panel.getByRole('region', { name: 'Vulnerabilities found' })).getByRole('listitem');
    expect(within(found).getByRole('link')).toHaveAttribute('href', '/firewall');
  });

  it('is SCANNING... while it runs, shows what it found, and reloads the alerts 1 s later', async () => {
    let finish: (() => void) | undefined;
    server.on(scanPosture, () => new Promise((resolve) => (finish = () => resolve(reply(scanPosture, RESULT)))));
    await open();
    await press('button', 'Start Scan');
    expect(screen.getByRole('button', { name: 'SCANNING...' })).toBeDisabled();
    const before = server.callsOf(listAlerts).length;
    finish?.();
    await settle();
    expect(screen.getByRole('button', { name: 'Start Scan' })).toBeEnabled();
    const panel = within(screen.getByRole('region', { name: 'Security check' }));
    expect(panel.getByText('Issues found')).toBeVisible();
    expect(within(panel.getByRole('region', { name: 'Vulnerabilities found' })).getByRole('listitem')).toHaveTextContent(
      '<b>ssh</b>',
    );
    expect(within(panel.getByRole('region', { name: 'Recommendations' })).getByRole('listitem')).toHaveTextContent(
      'Limit who may reach',
    );
    expect(panel.getByText('1 of 2 checks could run.')).toBeVisible();
    // Open findings first, independent of the order of checks.
    expect(textsOf(panel.getAllByText(/^(?:Failed|Unknown)$/u))).toEqual(['Failed', 'Unknown']);
    await pass(990);
    expect(server.callsOf(listAlerts)).toHaveLength(before);
    await pass(10);
    expect(server.callsOf(listAlerts)).toHaveLength(before + 1);
  });

  it.each([
    ['premium_required', 'Premium subscription required for advanced anti-hacking features'],
    ['internal', 'Error performing anti-hacking scan'],
  ] as const)('refused as %s says so', async (code, message) => {
    vi.spyOn(console, 'error').mockReturnValue();
    server.on(scanPosture, refusal(code));
    await open();
    await press('button', 'Start Scan');
    expect(screen.getByRole('alert')).toHaveTextContent(message);
  });
});

it.each([
  ['x'.repeat(50), 'x'.repeat(50)],
  ['x'.repeat(51), `${'x'.repeat(49)}…`],
  ['😀'.repeat(51), `${'😀'.repeat(49)}…`],
])('a description is cut through no character', (description, shown) => {
  expect(cutDescription(description)).toBe(shown);
});
