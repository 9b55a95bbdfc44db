import {
  type AlertDetail,
  acknowledgeAlert,
  deleteSuppression,
  disownAlert,
  listSuppressions,
  previewSuppression,
  readAlert,
  readMonitor,
  resolveAlert,
} from '@palisade/contract/alerts';
import { listAlerts, readHistory, readLastCheck, readStats, scanPosture } from '@palisade/contract/anti-hacking';
import { settleInfections } from '@palisade/contract/antivirus';
import { currentSubscription } from '@palisade/contract/current-subscription';
import { readConfig } from '@palisade/contract/platform';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  alertCountsOf,
  alertDetailOf,
  alertOf,
  CONFIG,
  MARIA,
  monitorOf,
  NO_PLAN,
  PREMIUM_PLAN,
  statsOf,
} from '#api/fake-records.ts';
import { at, FakeServer, page, refusal, reply } from '#api/fake-server.ts';
import { enter, renderForTest } from '#ui/render-for-test.tsx';
import { AntiHackingPage } from './anti-hacking-page.tsx';

const server = FakeServer.ofEachTest();

beforeEach(() => {
  server.answer(readConfig, CONFIG);
  server.answer(currentSubscription, PREMIUM_PLAN);
  server.answer(listAlerts, []);
  server.answer(readHistory, []);
  server.answer(readStats, statsOf());
  server.answer(readMonitor, monitorOf());
  server.answer(listSuppressions, []);
  server.answer(readLastCheck, { last: null });
});

/** The link of a row that opens its alert. */
const TITLE = /^(?:Brute Force|Suspicious Login|Intrusion Attempt|Malware Detected|Phishing Attempt|Test File)$/u;

const OTHER_ID = '01930000-0000-7000-8000-000000000009';

function showPage() {
  renderForTest(<AntiHackingPage securityDialog={() => <p>Security Preferences</p>} random={() => 1} />);
}

/** Opens an alert from its row. */
async function open(alert: AlertDetail) {
  server.answer(listAlerts, [alert]);
  server.answer(at(readAlert, alert), alert);
  showPage();
  await userEvent.click(await within(await screen.findByRole('list', { name: 'Alerts' })).findByRole('link', { name: TITLE }));
  const dialog = await screen.findByRole('dialog', { name: 'Security alert' });
  await within(dialog).findByText('How we know');
  return within(dialog);
}

const press = (name: string, where: Pick<typeof screen, 'findByRole'> = screen) =>
  where.findByRole('button', { name }).then((button) => userEvent.click(button));

describe('an empty list', () => {
  it('says what is watched, and since when', async () => {
    showPage();
    expect(await screen.findByText(/^No alert is open\. Palisade watches uploaded files, sign-ins, and requests/u)).toBeVisible();
    expect(screen.getByText('No active threats')).toBeVisible();
  });

  it('says what is not watched, and that nothing is where nothing is', async () => {
    const reason = 'The scanning engine is not running.';
    server.answer(readMonitor, monitorOf({ watches: [{ id: 'files', is_watched: false, reason }] }));
    showPage();
    expect(await screen.findByText('Not monitoring')).toBeVisible();
    expect(screen.getByText(reason)).toBeVisible();
    expect(screen.queryByText('No active threats')).not.toBeInTheDocument();
  });

  it('says how many the filters hide, and shows them', async () => {
    server.answer(readMonitor, monitorOf({ alerts: alertCountsOf({ active: 8, real: 8, resolved: 2 }) }));
    showPage();
    await userEvent.selectOptions(await screen.findByRole('combobox', { name: 'Severity' }), 'critical');
    expect(await screen.findByText('They hide 8 alerts.')).toBeVisible();
    server.answer(listAlerts, [alertOf()]);
    await press('Show all');
    expect(await screen.findByRole('list', { name: 'Alerts' })).toBeVisible();
    expect(screen.getByRole('combobox', { name: 'Severity' })).toHaveValue('');
  });

  it('has no filters while no alert is kept', async () => {
    showPage();
    expect(await screen.findByText('No active threats')).toBeVisible();
    expect(screen.queryByRole('radio')).not.toBeInTheDocument();
  });

  it('says nothing before it is read', async () => {
    server.answer(readMonitor, monitorOf({ alerts: alertCountsOf({ resolved: 1 }) }));
    showPage();
    expect(await screen.findByText('No active threats')).toBeVisible();
    let answer = (_: ReturnType<typeof reply>) => {};
    server.on(listAlerts, () => new Promise((resolve) => (answer = resolve)));
    await userEvent.click(screen.getByRole('radio', { name: /Resolved/u }));
    expect(screen.getByRole('status', { name: 'Loading the alerts' })).toBeVisible();
    expect(screen.queryByText('Nothing resolved yet')).not.toBeInTheDocument();
    answer(reply(listAlerts, [alertOf({ status: 'resolved' })]));
    expect(await screen.findByRole('list', { name: 'Alerts' })).toBeVisible();
  });

  it('leads to what was hidden', async () => {
    server.answer(readMonitor, monitorOf({ alerts: alertCountsOf({ hidden: 2 }) }));
    showPage();
    await press('Show hidden');
    expect(screen.getByRole('radio', { name: /Hidden/u })).toBeChecked();
    expect(await screen.findByText('Nothing is hidden')).toBeVisible();
  });
});

it('is opened by the link that mends what the security check found', async () => {
  const alert = alertDetailOf({ description: 'A sign-in from elsewhere.', outcome: 'allowed', blocked: false });
  server.answer(at(readAlert, alert), alert);
  server.answer(scanPosture, {
    threats_detected: 1,
    threats_blocked: 0,
    test_files: 0,
    status: 'issues_found',
    coverage: '1 of 1 checks could run.',
    vulnerabilities_found: ['A threat was not blocked.'],
    recommendations: ['Act on it.'],
    findings: [
      {
        id: 'open_alert_high',
        title: 'A threat of high severity was not blocked',
        severity: 'high',
        state: 'fail',
        evidence: '1 alert.',
        fix_route: `/anti-hacking?alert=${alert.id}`,
        deduction: 6,
        gain: 6,
      },
    ],
  });
  showPage();
  await press('Start Scan');
  await userEvent.click(await screen.findByRole('link', { name: /A threat of high severity was not blocked/u }));
  const dialog = await screen.findByRole('dialog', { name: 'Security alert' });
  expect(await within(dialog).findByText('A sign-in from elsewhere.')).toBeVisible();
});

describe('simulated alerts', () => {
  it('have a list of their own below the real ones, and are never mixed with them by default', async () => {
    const real = alertOf({ description: 'It happened.' });
    const simulated = Array.from({ length: 4 }, (_, index) => alertOf({ simulated: true, description: `Simulated ${index}` }));
    server.answer(readMonitor, monitorOf({ alerts: alertCountsOf({ active: 5, real: 1 }) }));
    server.on(listAlerts, (query) => reply(listAlerts, query.get('simulated') === 'true' ? simulated : [real]));
    showPage();
    const apart = within(await screen.findByRole('list', { name: 'Simulated threats' }));
    expect(apart.getAllByRole('listitem')).toHaveLength(1);
    const list = within(screen.getByRole('list', { name: 'Alerts' }));
    expect(list.getAllByRole('listitem')).toHaveLength(1);
    expect(list.queryByText('SIMULATED')).not.toBeInTheDocument();
    await press('Show all 4');
    await waitFor(() => expect(list.getAllByText('SIMULATED')).toHaveLength(4));
    expect(screen.getByRole('combobox', { name: 'Origin' })).toHaveValue('true');
    expect(screen.queryByRole('list', { name: 'Simulated threats' })).not.toBeInTheDocument();
  });
});

describe('a list of many', () => {
  // proves: support-customer-20
  it('continues with Show more, and says how many are left', async () => {
    const [first, second] = [alertOf(), alertOf()];
    server.on(listAlerts, (query) =>
      query.has('cursor') ? page(listAlerts, [second], {}) : page(listAlerts, [first], { next: first.id, total: 1_000 }),
    );
    showPage();
    const list = within(await screen.findByRole('list', { name: 'Alerts' }));
    await press('Show more (999 left)');
    await waitFor(() => expect(list.getAllByRole('listitem')).toHaveLength(2));
    expect(list.getAllByRole('link', { name: /to support$/u })).toHaveLength(2);
    expect(screen.queryByRole('button', { name: /Show more/ })).not.toBeInTheDocument();
  });

  it('is searched by the server', async () => {
    server.answer(readMonitor, monitorOf({ alerts: alertCountsOf({ resolved: 10 }) }));
    const asked: (string | null)[] = [];
    server.on(listAlerts, (query) => {
      asked.push(query.get('search'));
      return page(listAlerts, [], { total: 0 });
    });
    showPage();
    await enter(userEvent, await screen.findByLabelText('Search the alerts'), '198.51.100.7');
    await waitFor(() => expect(asked.at(-1)).toBe('198.51.100.7'));
  });
});

it('has no search, severity, type or origin while there are few alerts', async () => {
  server.answer(readMonitor, monitorOf({ alerts: alertCountsOf({ active: 2, real: 2, resolved: 1, hidden: 1 }) }));
  showPage();
  expect(await screen.findByRole('radio', { name: /Resolved/u })).toBeVisible();
  expect(screen.queryByRole('combobox')).toBeNull();
  expect(screen.queryByLabelText('Search the alerts')).toBeNull();
});

describe('an alert', () => {
  it('says what happened, what became of it, what to do, and how it is known', async () => {
    const alert = alertDetailOf({
      threat_type: 'intrusion_attempt',
      outcome: 'unknown',
      blocked: false,
      description: '<b>probing</b>',
      count: 3,
      decisions: [
        {
          id: '01930000-0000-7000-8000-00000000d001',
          kind: 'resolved',
          at: '2026-11-20T10:00:00.000Z',
          by: 'person',
          reason: 'fixed',
          note: 'Asked them to stop.',
          until: null,
        },
      ],
    });
    const dialog = await open(alert);
    for (const text of [
      'Someone is looking for a way in',
      '<b>probing</b>',
      'x3',
      'Unknown: we can’t prove whether it was blocked.',
      'Five failures within 10 minutes.',
      'A wrong password.',
      'Wrong passwords from one place',
      'You resolved it: fixed.',
      'Asked them to stop.',
    ])
      expect(dialog.getByText(text)).toBeVisible();
    expect(dialog.queryByText('Was this you?')).not.toBeInTheDocument();
  });

  it('that is not there says so', async () => {
    const alert = alertOf();
    server.answer(listAlerts, [alert]);
    server.on(at(readAlert, alert), refusal('not_found'));
    showPage();
    await userEvent.click(await within(await screen.findByRole('list', { name: 'Alerts' })).findByRole('link', { name: TITLE }));
    expect(await screen.findByText('We couldn’t find this alert')).toBeVisible();
  });

  it('is acknowledged, and says why when it is not', async () => {
    const alert = alertDetailOf();
    const dialog = await open(alert);
    const acknowledge = at(acknowledgeAlert, alert);
    server.on(acknowledge, refusal('conflict', { detail: 'Not open.' }));
    const choose = () => press('Mark as seen', dialog);
    await choose();
    expect(await dialog.findByText('Not open.')).toBeVisible();
    const seen = { ...alert, status: 'acknowledged' } as const;
    server.answer(at(readAlert, alert), seen);
    server.on(acknowledge, reply(acknowledgeAlert, seen));
    await choose();
    expect(await dialog.findByText('Seen')).toBeVisible();
    expect(dialog.queryByRole('button', { name: 'Mark as seen' })).not.toBeInTheDocument();
    expect(dialog.getByRole('button', { name: 'Resolve' })).toBeVisible();
  });

  it('about a file asks whether the original is deleted, and has Resolve in its menu', async () => {
    const alert = alertDetailOf({ threat_type: 'malware_detected', severity: 'high', blocked: true, scan_id: OTHER_ID });
    server.answer(settleInfections, { settled: 1 });
    const dialog = await open(alert);
    expect(dialog.getByText('Original not deleted')).toBeVisible();
    expect(dialog.getByRole('link', { name: 'Scan details' })).toHaveAttribute('href', `/antivirus?scan=${OTHER_ID}`);
    expect(dialog.queryByRole('button', { name: 'Resolve' })).not.toBeInTheDocument();
    await press('I deleted it', dialog);
    await waitFor(() =>
      expect(server.callsOf(settleInfections)).toMatchObject([{ body: { scan_ids: [OTHER_ID], deleted: true } }]),
    );
  });

  it('about a sign-in that was not me leads to a new password', async () => {
    const alert = alertDetailOf({ threat_type: 'suspicious_login', outcome: 'allowed', blocked: false, about_sign_in: true });
    const dialog = await open(alert);
    const disowned = alertDetailOf({
      ...alert,
      status: 'acknowledged',
      decisions: [
        {
          id: '01930000-0000-7000-8000-00000000d002',
          kind: 'not_me',
          at: '2026-11-20T10:00:00.000Z',
          by: 'person',
          reason: null,
          note: null,
          until: null,
        },
      ],
    });
    server.answer(at(readAlert, alert), disowned);
    server.answer(at(disownAlert, alert), { alert: disowned, sessions_ended: 1, change_password: true, offer_two_factor: true });
    await press('It wasn’t me', dialog);
    expect(await dialog.findByRole('status')).toHaveTextContent(/That session has ended.*choose a new one now.*two-factor/u);
    expect(dialog.queryByText('Was this you?')).not.toBeInTheDocument();
    // The signed-in person changed: every screen reads anew.
    await expect.poll(() => server.callsOf(currentSubscription)).toHaveLength(2);
    await press('Choose a new password', dialog);
    expect(await screen.findByText('Security Preferences')).toBeVisible();
    expect(screen.queryByRole('dialog', { name: 'Security alert' })).not.toBeInTheDocument();
  });

  it('that was a false positive is hidden from now on, after saying what that means', async () => {
    const alert = alertDetailOf();
    const dialog = await open(alert);
    server.answer(previewSuppression, {
      rule: alert.rule,
      source: '192.0.2.1',
      until: '2026-12-20T10:00:00.000Z',
      would_hide: 4,
    });
    const resolved = alertDetailOf({
      ...alert,
      status: 'resolved',
      resolution: { reason: 'false_positive', note: 'Mine.', until: null, at: alert.created_at, by: MARIA.id },
    });
    const resolve = at(resolveAlert, alert);
    server.on(resolve, reply(resolveAlert, resolved));
    await press('Resolve', dialog);
    await userEvent.click(dialog.getByRole('radio', { name: /^False positive/u }));
    expect(await dialog.findByText('In the last 30 days it would have hidden 4 alerts.')).toBeVisible();
    await userEvent.click(dialog.getByRole('checkbox', { name: /^Hide the same for 30 days/u }));
    await userEvent.type(dialog.getByLabelText('Note, if you like'), 'Mine.');
    server.answer(listAlerts, []);
    server.answer(at(readAlert, alert), resolved);
    await press('Resolve alert', dialog);
    expect(await dialog.findByRole('button', { name: 'Reopen' })).toBeVisible();
    expect(server.callsOf(resolve).map(({ body }) => body)).toEqual([
      { reason: 'false_positive', note: 'Mine.', suppress: true },
    ]);

    // Its row, from which the dialog was opened, is gone.
    await screen.findByText('No active threats');
    await userEvent.keyboard('{Escape}');
    expect(screen.getByRole('heading', { level: 1 })).toHaveFocus();
  });

  it('that was resolved elsewhere meanwhile says so, and keeps what was written', async () => {
    const alert = alertDetailOf();
    const dialog = await open(alert);
    await press('Resolve', dialog);
    await userEvent.click(dialog.getByRole('radio', { name: /^Fixed/u }));
    await enter(userEvent, dialog.getByLabelText('Note, if you like'), 'New locks.');
    const resolution = { reason: 'was_me', note: null, until: null, at: alert.created_at, by: MARIA.id } as const;
    const resolved = alertDetailOf({ ...alert, status: 'resolved', resolution });
    server.answer(at(readAlert, alert), resolved);
    const detail = 'This alert is already resolved.';
    server.on(at(resolveAlert, alert), refusal('conflict', { detail }));
    await press('Resolve alert', dialog);
    expect(await dialog.findByRole('alert')).toHaveTextContent(detail);
    await waitFor(() => expect(dialog.getAllByText('Resolved').length).toBeGreaterThan(0));
    expect(dialog.getByRole('alert')).toHaveTextContent(detail);
    expect(dialog.getByLabelText('Note, if you like')).toHaveValue('New locks.');
    await press('Cancel', dialog);
    expect(dialog.getByRole('button', { name: 'Reopen' })).toBeVisible();
  });

  it('that is critical is never hidden, and a risk is accepted until a day', async () => {
    const alert = alertDetailOf({ severity: 'critical', suppressible: false });
    const dialog = await open(alert);
    await press('Resolve', dialog);
    await userEvent.click(dialog.getByRole('radio', { name: /^False positive/u }));
    expect(dialog.getByText(/Critical alerts are never hidden/u)).toBeVisible();
    expect(dialog.queryByRole('checkbox')).not.toBeInTheDocument();
    await userEvent.click(dialog.getByRole('radio', { name: /^Accepted risk/u }));
    const resolve = at(resolveAlert, alert);
    server.on(resolve, reply(resolveAlert, { ...alert, status: 'resolved' }));
    const until = dialog.getByLabelText('Until the end of');
    await userEvent.clear(until);
    await enter(userEvent, until, '2099-01-31');
    await press('Resolve alert', dialog);
    // The browser holds it back: it is more than a year away.
    expect(until).toBeInvalid();
    expect(server.callsOf(resolve)).toEqual([]);
  });
});

it('hidden alerts are shown again on demand', async () => {
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  const suppression = {
    id: '01930000-0000-7000-8000-00000000e001',
    rule: 'malware_detected.infected',
    source: 'sha256:00',
    description: 'EICAR-Test-File was found.',
    phrase: null,
    created_at: day(-6),
    until: day(24),
    hidden_count: 2,
    last_hidden_at: day(-5),
  };
  server.answer(listSuppressions, [suppression]);
  showPage();
  expect(await screen.findByText(/^Hidden 2 times, ends .*\d{4}$/u)).toBeVisible();
  const remove = at(deleteSuppression, suppression);
  server.on(remove, () => {
    server.answer(listSuppressions, []);
    return reply(deleteSuppression, undefined);
  });
  await press('Show again');
  await expect.poll(() => screen.queryByText('Kept out of this list')).toBeNull();
  expect(server.callsOf(remove)).toHaveLength(1);
});

it('calls a harmless test file what it is, and names no threat', async () => {
  server.answer(listAlerts, [alertOf({ threat_type: 'malware_detected', rule: 'malware_detected.infected', severity: 'low' })]);
  showPage();
  await userEvent.click(await screen.findByText('1 harmless test file, not counted'));
  const list = within(screen.getByRole('list', { name: 'Harmless test files' }));
  expect(list.getByRole('link', { name: 'Test File' })).toBeVisible();
  expect(list.queryByText('Malware Detected')).not.toBeInTheDocument();
  expect(screen.getByText('No active threats')).toBeVisible();
});

it('opens above the locked screen for a person without premium, who can answer it', async () => {
  server.answer(currentSubscription, NO_PLAN);
  const alert = alertDetailOf({ description: 'A sign-in from elsewhere.' });
  const seen = { ...alert, status: 'acknowledged' } as const;
  server.answer(at(readAlert, alert), alert);
  server.answer(at(acknowledgeAlert, alert), seen);
  renderForTest(<AntiHackingPage securityDialog={() => null} />, `/?alert=${alert.id}`);
  const dialog = within(await screen.findByRole('dialog', { name: 'Security alert' }));
  expect(await dialog.findByText('A sign-in from elsewhere.')).toBeVisible();
  server.answer(at(readAlert, alert), seen);
  await press('Mark as seen', dialog);
  expect(await dialog.findByText('Seen')).toBeVisible();
  expect(screen.getByText('Premium access required')).toBeInTheDocument();
});

it('shows a simulated alert whatever the filter', async () => {
  server.answer(readMonitor, monitorOf({ alerts: alertCountsOf({ active: 1, hidden: 9 }) }));
  server.on(listAlerts, (query) =>
    reply(
      listAlerts,
      query.get('simulated') === 'true' && query.get('status') === 'active' ? [alertOf({ simulated: true })] : [],
    ),
  );
  showPage();
  await userEvent.selectOptions(await screen.findByRole('combobox', { name: 'Severity' }), 'critical');
  await userEvent.click(screen.getByRole('radio', { name: /Resolved/u }));
  expect(await within(await screen.findByRole('list', { name: 'Simulated threats' })).findAllByRole('listitem')).toHaveLength(1);
});
