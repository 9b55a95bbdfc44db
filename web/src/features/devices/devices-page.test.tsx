import {
  askSecondLook,
  changeDevice,
  confirmDevice,
  countDeviceWishes,
  createEnrolmentCode,
  type Device,
  listDeviceFindings,
  listDevices,
  listDeviceWishes,
  removeDevice,
  revokeDevice,
  saveDeviceWish,
  startDeviceScan,
  withdrawDeviceWish,
  withdrawSecondLook,
} from '@palisade/contract/devices';
import { listRules } from '@palisade/contract/firewall';
import { readWebProtection, switchAgentNames } from '@palisade/contract/web-protection';
import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { deviceFindingOf, deviceOf, deviceScanOf, telemetryOf, webDeviceOf, webProtectionOf } from '#api/fake-devices.ts';
import { MARIA } from '#api/fake-records.ts';
import { at, FakeServer, refusal } from '#api/fake-server.ts';
import { startSession } from '#api/session.ts';
import { renderForTest, textsOf } from '#ui/render-for-test.tsx';
import { DevicesPage } from './devices-page.tsx';

const server = FakeServer.ofEachTest();

beforeEach(() => {
  server.answer(listDeviceFindings, []);
  server.answer(listRules, []);
  server.answer(readWebProtection, webProtectionOf());
});

const open = (...devices: ReturnType<typeof deviceOf>[]) => openAt('/devices', ...devices);

function openAt(address: string, ...devices: ReturnType<typeof deviceOf>[]) {
  server.answer(listDevices, devices);
  renderForTest(<DevicesPage />, address);
  return userEvent.setup();
}

const COMMAND = 'curl -fsS https://example.com/agent/install.sh | sudo sh';
/** The code of a new device and its command, for ten minutes. */
const offer = (parts: { command?: string | null; refusal?: string } = {}) => {
  const expires_at = new Date(Date.now() + 600_000).toISOString();
  server.answer(createEnrolmentCode, { code: 'K7M4Q-P9XDA', expires_at, command: COMMAND, refusal: null, ...parts });
};

function capable(parts: Partial<NonNullable<Device['capabilities']>>): Device['capabilities'] {
  const { capabilities } = deviceOf();
  return capabilities && { ...capabilities, ...parts };
}

const PROGRESS = {
  files_read: 0,
  files_known: 0,
  files_pending: 0,
  folders_unread: 0,
  files_total: 0,
  is_counted: true,
  bytes_read: 1,
  bytes_per_second: 1,
  seconds_left: 0,
  path: null,
};

const card = async (name: string) => within(await screen.findByRole('region', { name }));

describe('without a device', () => {
  it('says so, pretends nothing, and shows the command for ten minutes', async () => {
    const user = open();
    expect(await screen.findByRole('region', { name: 'No device is connected.' })).toHaveAttribute('data-tone', 'unknown');
    const systems = within(screen.getByRole('group', { name: 'System of the device' }));
    expect(textsOf(systems.getAllByRole('button'))).toEqual([
      expect.stringMatching(/^Windows.*Blocks dangerous websites/u),
      expect.stringMatching(/^macOS.*Blocks dangerous websites/u),
      expect.stringMatching(/^Phone or tablet.*Blocks dangerous websites/u),
      expect.stringMatching(/^Router, TV, or browser.*Blocks dangerous websites/u),
      expect.stringMatching(/^Linux.*applies firewall rules/u),
    ]);
    offer();
    expect(screen.queryByText(COMMAND)).not.toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: /^Linux/u }));
    expect(await screen.findByText(COMMAND)).toBeVisible();
    expect(screen.getByText(/^Waiting for the device to connect/u)).toBeVisible();
    expect(screen.getByText(/^(?:10:00|9:5\d)$/u)).toBeVisible();
  });

  it('shows the command at once where the address asks for it', async () => {
    offer();
    openAt('/devices?add=linux', deviceOf());
    expect(await screen.findByText(COMMAND)).toBeVisible();
  });

  it('says that a command with an address of this computer adds no other one', async () => {
    const user = open();
    offer({ command: 'curl -fsS http://localhost:3000/agent/install.sh | sudo sh' });
    await user.click(await screen.findByRole('button', { name: /^Linux/u }));
    expect(await screen.findByText(/^This command works only on this computer/u)).toBeVisible();
  });

  it('says why there is no command, or no room', async () => {
    const user = open();
    offer({ command: null, refusal: 'This server cannot be reached by https.' });
    await user.click(await screen.findByRole('button', { name: /^Linux/u }));
    expect(await screen.findByRole('alert')).toHaveTextContent('This server cannot be reached by https.');
    server.on(createEnrolmentCode, refusal('device_limit', { detail: 'Your plan holds 1 device.' }));
    await user.click(screen.getByRole('button', { name: 'Get a new command' }));
    await waitFor(() => expect(screen.getByRole('alert')).toHaveTextContent('Your plan holds 1 device.'));
  });
});

it('lists devices of the agent and of web protection together, and links to each', async () => {
  const laptop = deviceOf({ device_name: 'Laptop' });
  const phone = webDeviceOf({ name: 'Phone', is_silent: true });
  server.answer(readWebProtection, webProtectionOf({ devices: [phone] }));
  open(laptop);
  const list = await card('All devices');
  expect(list.getByText('Agent: online')).toBeVisible();
  expect(await list.findByText(/^Web protection: no website request since/u)).toBeVisible();
  expect(list.getByRole('link', { name: 'Phone' })).toHaveAttribute('href', `/web-protection?device=${phone.id}`);
  expect(list.getByRole('link', { name: 'Laptop' })).toHaveAttribute('href', `/devices?device=${laptop.id}`);
});

describe('a new device', () => {
  const waiting = deviceOf({ state: 'waiting', device_name: 'Kitchen' });

  it('counts once its fingerprint was confirmed', async () => {
    server.answer(at(confirmDevice, waiting), { ...waiting, state: 'online' });
    const user = open(waiting);
    expect(await screen.findByText(waiting.fingerprint)).toBeVisible();
    expect(screen.getByText('Waiting for you')).toBeVisible();
    expect(screen.queryByRole('button', { name: 'Block inbound traffic' })).toBeNull();
    server.answer(listDevices, [{ ...waiting, state: 'online' }]);
    await user.click(screen.getByRole('button', { name: 'The fingerprint is the same' }));
    expect(await screen.findByText('Online')).toBeVisible();
    expect(server.callsOf(at(confirmDevice, waiting)).map(({ body }) => body)).toEqual([{ fingerprint: waiting.fingerprint }]);
  });

  it('with another fingerprint is removed', async () => {
    server.answer(at(removeDevice, waiting), undefined);
    const user = open(waiting);
    server.answer(listDevices, []);
    await user.click(await screen.findByRole('button', { name: 'Remove this device' }));
    await waitFor(() => expect(screen.queryByText(waiting.fingerprint)).toBeNull());
  });
});

describe('adding a device', () => {
  it('turns the wait to success when the new device connects, whatever devices there were', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const old = deviceOf({ device_name: 'Laptop' });
    const user = open(old);
    await user.click(await screen.findByRole('button', { name: 'Add a device' }));
    offer();
    await user.click(screen.getByRole('button', { name: /^Linux/u }));
    expect(await screen.findByText(/^Waiting for the device to connect/u)).toBeVisible();
    expect(screen.getByRole('button', { name: 'Copy command' })).toBeVisible();
    const fresh = deviceOf({ device_name: 'Kitchen', state: 'offline' });
    server.answer(listDevices, [fresh, old]);
    await act(() => vi.advanceTimersByTimeAsync(3_000));
    expect(await screen.findByText(/is added\. Waiting for it to connect\./u)).toBeVisible();
    server.answer(listDevices, [{ ...fresh, state: 'online' }, old]);
    await act(() => vi.advanceTimersByTimeAsync(3_000));
    const success = await screen.findByText(/is connected\.$/u);
    expect(success).toHaveTextContent('Kitchen is connected.');
    await user.click(screen.getByRole('button', { name: 'Done' }));
    expect(screen.queryByRole('region', { name: 'Add a device' })).not.toBeInTheDocument();
  });

  it.each([
    ['Windows', 'Windows PowerShell', '/firewall?export=powershell'],
    ['macOS', 'the macOS firewall (pf)', '/firewall?export=pf'],
  ])('says what works on %s today, and keeps a wish', async (name, firewall, address) => {
    const system = name === 'Windows' ? 'windows' : 'macos';
    server.answer(listDeviceWishes, []);
    const user = open();
    await user.click(await screen.findByRole('button', { name: new RegExp(`^${name}`, 'u') }));
    expect(await screen.findByText(`Export them for ${firewall}.`)).toBeVisible();
    expect(screen.getByRole('link', { name: 'Use your firewall rules' })).toHaveAttribute('href', address);
    expect(screen.getByRole('link', { name: 'Scan files' })).toHaveAttribute('href', '/antivirus');
    await user.type(await screen.findByRole('textbox'), 'Scan my downloads');
    const wish = { system, note: 'Scan my downloads', created_at: '2026-11-20T10:00:00.000Z' } as const;
    server.answer(saveDeviceWish, wish);
    server.answer(listDeviceWishes, [wish]);
    await user.click(screen.getByRole('button', { name: `Request ${name} support` }));
    expect(await screen.findByText(new RegExp(`^You asked for ${name} support`, 'u'))).toBeVisible();
    expect(server.callsOf(saveDeviceWish)[0]?.body).toEqual({ system, note: 'Scan my downloads' });
    server.answer(withdrawDeviceWish, undefined);
    server.answer(listDeviceWishes, []);
    await user.click(screen.getByRole('button', { name: 'Withdraw request' }));
    expect(await screen.findByRole('button', { name: `Request ${name} support` })).toBeVisible();
  });

  it('is no dead end on a phone', async () => {
    server.answer(listDeviceWishes, []);
    const user = open();
    await user.click(await screen.findByRole('button', { name: /^Phone or tablet/u }));
    expect(await screen.findByRole('link', { name: 'Protect Android' })).toHaveAttribute('href', '/web-protection?add=android');
    expect(await screen.findByRole('link', { name: 'Scan files' })).toBeVisible();
    expect(await screen.findByRole('button', { name: 'Request phone support' })).toBeVisible();
  });

  it('shows administrators what people asked for', async () => {
    startSession({ access_token: 'token-1', user_info: { ...MARIA, role: 'admin' } });
    server.answer(countDeviceWishes, [{ system: 'windows', people: 3, notes: ['<b>Downloads</b>'] }]);
    open();
    const wishes = within(await screen.findByRole('region', { name: 'Requested systems' }));
    expect(wishes.getByRole('listitem')).toHaveTextContent('Windows: 3 people<b>Downloads</b>');
  });
});

describe('the device of the address', () => {
  it('takes the focus', async () => {
    const scrollIntoView = vi.fn();
    Element.prototype.scrollIntoView = scrollIntoView;
    const tower = deviceOf({ device_name: 'Tower' });
    openAt(`/devices?device=${tower.id}`, deviceOf(), tower);
    await waitFor(() => expect(screen.getByRole('region', { name: 'Tower' })).toHaveFocus());
    expect(scrollIntoView).toHaveBeenCalledOnce();
  });

  it('may be gone', async () => {
    openAt('/devices?device=none', deviceOf());
    expect(await screen.findByRole('alert')).toHaveTextContent('The device of this link was removed.');
  });
});

describe('a device', () => {
  it('that is silent says since when, and what helps', async () => {
    open(deviceOf({ state: 'offline' }));
    const laptop = await card('Laptop');
    expect(laptop.getByText(/, silent since/u)).toBeVisible();
    const [first] = laptop.getAllByRole('listitem');
    expect(first).toHaveTextContent(/^It last reported .* restart its agent\./u);
    expect(laptop.getByRole('button', { name: 'Copy command' })).toBeVisible();
  });

  // proves: device-hostile-agent-5, support-customer-23
  it('shows its name as text, its state, its rules and what it measured', async () => {
    open(
      deviceOf({
        device_name: '<b>Laptop</b>',
        telemetry_at: '2026-11-20T10:05:00.000Z',
        telemetry: telemetryOf({
          cpu_percent: 12.4,
          memory_percent: 61,
          listening: [{ protocol: 'tcp', address: '0.0.0.0', port: 22, program: 'sshd' }],
        }),
      }),
    );
    const laptop = await card('<b>Laptop</b>');
    for (const text of ['Online', 'Applied', '12%', '61%']) expect(laptop.getByText(text)).toBeVisible();
    expect(laptop.getByRole('link', { name: 'Show this to support: <b>Laptop</b>' })).toHaveAttribute(
      'href',
      expect.stringMatching(/^\/chat\?share=device%3A/u),
    );
  });

  // proves: device-fault-1
  it('says what is pending and since when, and which rule was refused, with why', async () => {
    const rule_id = '01930000-0000-7000-9000-000000000001';
    const pending_since = '2026-11-20T10:06:00.000Z';
    const enforcement = { ...deviceOf().enforcement, desired_rev: 5, pending_since, applied_at: null };
    open(
      deviceOf({ device_name: 'Waits', enforcement: { ...enforcement, state: 'pending' } }),
      deviceOf({
        device_name: 'Refuses',
        enforcement: { ...enforcement, state: 'rejected', errors: [{ rule_id, message: 'The kernel does not know this.' }] },
      }),
    );
    const waits = await card('Waits');
    expect(waits.getByText('Pending')).toBeVisible();
    expect(waits.getByText(/Since/u)).toBeVisible();
    const refuses = await card('Refuses');
    expect(refuses.getByText('Rejected')).toBeVisible();
    expect(refuses.getByText(/The kernel does not know this\./u)).toBeVisible();
  });

  it('says that what containers send is not covered, where there are containers and rules', async () => {
    open(deviceOf({ device_name: 'Plain' }), deviceOf({ device_name: 'Docks', capabilities: capable({ containers: true }) }));
    expect((await card('Docks')).getByText(/Your rules limit what reaches containers there/u)).toBeVisible();
    expect((await card('Plain')).queryByText(/Containers run there/u)).not.toBeInTheDocument();
  });

  // proves: device-fault-4
  it('without a firewall never says that rules are applied', async () => {
    const firewall = { firewall: 'unavailable', firewall_reason: 'There is no nft on this computer.' } as const;
    open(deviceOf({ capabilities: capable(firewall) }));
    const laptop = await card('Laptop');
    expect(laptop.getByText('Not applied')).toBeVisible();
    expect(laptop.getByText(/There is no nft on this computer\./u)).toBeVisible();
    expect(laptop.queryByText('Applied')).not.toBeInTheDocument();
  });

  it('without a firewall and without a reason says so too, and one that has told nothing yet says what the server knows', async () => {
    const firewall = { firewall: 'unavailable', firewall_reason: null } as const;
    open(deviceOf({ device_name: 'Old', capabilities: capable(firewall) }), deviceOf({ device_name: 'New', capabilities: null }));
    expect((await card('Old')).getByText(/This device can’t apply rules\./u)).toBeVisible();
    expect((await card('New')).getByText('Applied')).toBeVisible();
  });

  it('turns web protection on by a switch, and says what the agent made of it', async () => {
    const laptop = deviceOf();
    const failed = deviceOf({
      device_name: 'Desk',
      web_protection: { state: 'failed', reason: 'dhclient writes /etc/resolv.conf.' },
    });
    const away = deviceOf({ device_name: 'Away', web_protection: { state: 'open', reason: 'no answer in time' } });
    const devices = [failed, away].map(({ id, device_name: name }) =>
      webDeviceOf({ name, kind: 'linux', key: '', device_id: id }),
    );
    server.answer(readWebProtection, webProtectionOf({ devices }));
    server.answer(at(switchAgentNames, laptop), undefined);
    const user = open(laptop, failed, away);
    expect((await card('Desk')).getByText('dhclient writes /etc/resolv.conf.')).toBeVisible();
    expect((await card('Away')).getByText(/none is refused until it does/u)).toBeVisible();
    expect(screen.getAllByText(/^Web protection: /u)).toHaveLength(2);
    await user.click((await card('Laptop')).getByRole('switch', { name: 'Refuse dangerous websites' }));
    await waitFor(() => expect(server.callsOf(at(switchAgentNames, laptop))).toMatchObject([{ body: { is_on: true } }]));
  });

  // proves: attack-E.5-2
  it('says when its agent stopped working, and what else keeps files from being checked', async () => {
    const health = { watcher: 'working', overflow: null, files_unread: 0, workers_stuck: 0 } as const;
    open(
      deviceOf({ device_name: 'Stands', state: 'stalled' }),
      deviceOf({
        device_name: 'Floods',
        health: {
          watcher: 'stalled',
          overflow: { at: '2026-11-20T10:06:00.000Z', folders: 2 },
          files_unread: 1,
          workers_stuck: 1,
        },
      }),
      deviceOf({ device_name: 'Works', health }),
      deviceOf({ device_name: 'Calm', health: { ...health, overflow: { at: '2026-11-20T10:06:00.000Z', folders: 0 } } }),
      deviceOf({ device_name: 'Away', state: 'offline', health: { ...health, watcher: 'stalled' } }),
    );
    const stands = await card('Stands');
    expect(stands.getByText('Not responding')).toBeVisible();
    expect(stands.queryByText('Online')).not.toBeInTheDocument();
    expect(stands.getByText(/stopped working, so no files are checked/u)).toBeVisible();
    const floods = await card('Floods');
    for (const text of [
      'New files aren’t being checked. Restart the computer if this lasts.',
      'A disk or network drive doesn’t answer, so files on it can’t be checked.',
      'Too many files changed at once. The agent is checking 2 folders again.',
      'We couldn’t check 1 new file completely. Run a full scan to try again.',
    ])
      expect(floods.getByText(text)).toBeVisible();
    expect(
      (await card('Calm')).getByText('Many files changed at once. The agent is checking the watched folders again.'),
    ).toHaveClass('sub');
    for (const name of ['Works', 'Away'])
      expect((await card(name)).queryByText(/aren’t being checked|couldn’t check|Too many/u)).not.toBeInTheDocument();
  });

  // proves: attack-E.7-1
  it('says in the first line of a scan what it could not read', async () => {
    const laptop = deviceOf();
    const progress = { ...PROGRESS, files_read: 10, files_pending: 2, folders_unread: 1, files_total: 12 };
    const done = { scan: 'folder', state: 'done' } as const;
    const other = deviceOf({ device_name: 'Other' });
    open(
      { ...laptop, scan: deviceScanOf({ ...done, device_id: laptop.id, progress, files_unread: 3 }) },
      { ...other, scan: deviceScanOf({ ...done, device_id: other.id, files_unread: 0 }) },
    );
    const line = (await card('Laptop')).getByText(/^Folder scan finished, but/u);
    expect(line).toHaveTextContent('Folder scan finished, but 2 files and 1 folder couldn’t be checked.');
    expect((await card('Other')).getByText('Folder scan finished.')).toBeVisible();
  });

  it('shows the name of a file that is not UTF-8 with its bytes', async () => {
    const laptop = deviceOf();
    server.answer(listDeviceFindings, [deviceFindingOf({ device_id: laptop.id, path: '/home/maria/n\\xff.sh' })]);
    open(laptop);
    expect(await screen.findByText('/home/maria/n\\xff.sh')).toBeVisible();
  });

  it('is renamed where it stands', async () => {
    const laptop = deviceOf();
    const user = open(laptop);
    await user.click(await screen.findByRole('button', { name: 'Rename Laptop' }));
    const field = screen.getByRole('textbox', { name: 'Device name' });
    await user.clear(field);
    expect(screen.getByRole('button', { name: 'Save' })).toBeDisabled();
    await user.type(field, 'Kitchen');
    const renamed = { ...laptop, device_name: 'Kitchen' };
    server.answer(at(changeDevice, laptop), renamed);
    server.answer(listDevices, [renamed]);
    await user.click(screen.getByRole('button', { name: 'Save' }));
    expect(await screen.findByRole('region', { name: 'Kitchen' })).toBeVisible();
    expect(screen.queryByRole('textbox', { name: 'Device name' })).not.toBeInTheDocument();
  });

  it('keeps the name that was written when it is refused, and says so where the device is gone', async () => {
    const laptop = deviceOf();
    const user = open(laptop);
    await user.click(await screen.findByRole('button', { name: 'Rename Laptop' }));
    const field = screen.getByRole('textbox', { name: 'Device name' });
    await user.clear(field);
    await user.type(field, 'Kitchen');
    server.on(at(changeDevice, laptop), refusal('conflict', { detail: 'Another device has this name.' }));
    await user.click(screen.getByRole('button', { name: 'Save' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('Another device has this name.');
    expect(field).toHaveValue('Kitchen');
    server.on(at(changeDevice, laptop), refusal('not_found'));
    server.answer(listDevices, []);
    await user.click(screen.getByRole('button', { name: 'Save' }));
    expect(await screen.findByRole('heading', { name: 'No device is connected.' })).toBeVisible();
    expect(screen.getByRole('alert')).toHaveTextContent('“Laptop” was deleted in another window.');
  });

  it('is scanned where its files are, and shows how far that is', async () => {
    const laptop = deviceOf();
    const user = open(laptop);
    const counts = { files_read: 1_200, files_known: 300, files_total: 3_000, seconds_left: 90 };
    const progress = { ...PROGRESS, ...counts, path: '/home/maria/<i>x</i>' };
    const scan = deviceScanOf({ device_id: laptop.id, progress });
    server.answer(at(startDeviceScan, laptop), scan);
    server.answer(listDevices, [{ ...laptop, scan }]);
    await user.click(await screen.findByRole('button', { name: 'Full scan' }));
    const shown = await card('Laptop');
    expect(await shown.findByText('1,500 of 3,000 files, 2 min left')).toBeVisible();
    expect(shown.getByText('/home/maria/<i>x</i>')).toBeVisible();
    expect(shown.getByRole('button', { name: 'Pause' })).toBeVisible();
  });

  it('says when rules on trial come back', async () => {
    const enforcement = { ...deviceOf().enforcement, state: 'trial' as const, seconds_left: 21 };
    open(deviceOf({ enforcement }));
    const laptop = await card('Laptop');
    expect(laptop.getByText('Testing')).toBeVisible();
    expect(laptop.getByText(/the previous rules return in/u)).toHaveTextContent(/in 0:2[01]\./u);
  });

  it('has one folder scanned, by an absolute path alone', async () => {
    const laptop = deviceOf();
    const user = open(laptop);
    await user.click(await screen.findByRole('button', { name: 'Scan a folder' }));
    const field = screen.getByRole('textbox', { name: 'Folder to scan' });
    expect(field).toHaveFocus();
    await user.type(field, 'Downloads{Enter}');
    expect(screen.getByRole('alert')).toHaveTextContent('Enter a full path');
    await user.clear(field);
    server.answer(at(startDeviceScan, laptop), deviceScanOf({ device_id: laptop.id }));
    await user.type(field, '/home/maria{Enter}');
    await waitFor(() => expect(server.callsOf(at(startDeviceScan, laptop))).toHaveLength(1));
    expect(server.callsOf(at(startDeviceScan, laptop))[0]?.body).toEqual({ scan: 'folder', path: '/home/maria' });
  });

  it('watches for new files unless that is switched off, and takes folders in and out', async () => {
    const laptop = deviceOf({ exclusions: ['/srv/mirror'] });
    const user = open(laptop);
    server.answer(at(changeDevice, laptop), laptop);
    const sent = () => server.callsOf(at(changeDevice, laptop)).map(({ body }) => body);
    await user.click(await screen.findByRole('switch', { name: 'Scan new files right away' }));
    await user.click(screen.getByRole('button', { name: 'Watch a folder' }));
    await user.type(screen.getByRole('textbox', { name: 'Folder to watch' }), '/srv/mail{Enter}');
    await user.click(screen.getByRole('button', { name: 'Remove /srv/mirror' }));
    await waitFor(() => expect(sent()).toEqual([{ is_watching: false }, { watched: ['/srv/mail'] }, { exclusions: [] }]));
  });

  it('says how much is watched, and when the kernel watches no more', async () => {
    const reason = 'The kernel watches no more folders (fs.inotify.max_user_watches): 4 folders are not watched.';
    open(
      deviceOf({ watching: { folders: 8_192, reason } }),
      deviceOf({ device_name: 'Off', is_watching: false, watching: null }),
    );
    const laptop = await card('Laptop');
    expect(laptop.getByText('Watching 8,192 folders.')).toBeVisible();
    expect(laptop.getByText(reason)).toBeVisible();
    expect((await card('Off')).getByRole('switch', { name: 'Scan new files right away' })).not.toBeChecked();
  });

  it('is revoked after a question, and says why where it cannot be', async () => {
    const confirm = vi.spyOn(window, 'confirm').mockReturnValue(false);
    const laptop = deviceOf();
    const user = open(laptop);
    await user.click(await screen.findByRole('button', { name: 'Revoke device' }));
    expect(server.callsOf(at(revokeDevice, laptop))).toHaveLength(0);
    confirm.mockReturnValue(true);
    server.on(at(revokeDevice, laptop), refusal('conflict', { detail: 'This device is already revoked.' }));
    await user.click(screen.getByRole('button', { name: 'Revoke device' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('This device is already revoked.');
  });
});

describe('a file that was found', () => {
  const laptop = deviceOf();
  const finding = deviceFindingOf({ device_id: laptop.id });
  const look = { asked_at: '2026-11-20T10:06:00.000Z', reason: null, scan: null };
  const scan = {
    ...({ id: finding.id, scan_status: 'clean', status_detail: null, scanned_at: '2026-11-20T10:07:00.000Z' } as const),
    threat_detected: null,
    is_test_file: false,
    engines: [],
  };
  const show = (parts: Parameters<typeof deviceFindingOf>[0], device = laptop) => {
    server.answer(listDeviceFindings, [{ ...finding, ...parts }]);
    return open(device);
  };
  const item = async () => within(await screen.findByRole('region', { name: 'Found on devices' }));

  it('is sent for a second look once its person agrees, with what that means', async () => {
    const confirm = vi.spyOn(window, 'confirm').mockReturnValue(false);
    const user = show({});
    await user.click((await item()).getByRole('button', { name: 'Server rescan' }));
    expect(confirm).toHaveBeenCalledWith(
      expect.stringContaining('Send /home/maria/invoice.zip (68 B) from Laptop to this server for a rescan?'),
    );
    expect(server.callsOf(at(askSecondLook, finding))).toHaveLength(0);
    confirm.mockReturnValue(true);
    const asked = { ...finding, second_look: { ...look, state: 'asked' as const } };
    server.answer(at(askSecondLook, finding), asked);
    server.answer(listDeviceFindings, [asked]);
    await user.click((await item()).getByRole('button', { name: 'Server rescan' }));
    expect(await (await item()).findByText(/Laptop will send the file when it connects\./u)).toBeVisible();
    expect(server.callsOf(at(askSecondLook, finding)).map(({ body }) => body)).toEqual([{ agreed: true }]);
    server.answer(at(withdrawSecondLook, finding), finding);
    server.answer(listDeviceFindings, [finding]);
    await user.click((await item()).getByRole('button', { name: 'Cancel rescan' }));
    expect(await (await item()).findByRole('button', { name: 'Server rescan' })).toBeVisible();
  });

  it('has the answer beside it', async () => {
    show({ second_look: { ...look, state: 'answered', scan } });
    expect((await item()).getByText(/^Server rescan:/u)).toHaveTextContent('Clean');
    expect((await item()).getByRole('button', { name: 'Rescan again' })).toBeVisible();
  });

  it.each([
    ['scanning', null, 'Server rescan: scanning the file.'],
    ['failed', 'The file could not be read.', 'Server rescan failed: The file could not be read.'],
    ['gone', null, 'The server rescan was deleted.'],
  ] as const)('says how the second look stands: %s', async (state, reason, sentence) => {
    show({ second_look: { ...look, state, reason } });
    expect((await item()).getByText(sentence)).toBeVisible();
  });

  it('is not offered a second look where it was deleted', async () => {
    show({ state: 'deleted' });
    expect((await item()).queryByRole('button', { name: 'Server rescan' })).not.toBeInTheDocument();
  });

  it('is not offered a second look on a device that does not send files', async () => {
    show({}, { ...laptop, capabilities: capable({ second_look: false }) });
    expect((await item()).queryByRole('button', { name: 'Server rescan' })).not.toBeInTheDocument();
  });
});
