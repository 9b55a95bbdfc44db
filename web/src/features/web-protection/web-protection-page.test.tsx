import type { Endpoint } from '@palisade/contract/endpoint';
import { readHousehold, setDeviceProfile } from '@palisade/contract/household';
import {
  addWebDevice,
  addWebName,
  listShownNames,
  listWebRefusals,
  readWebProtection,
  removeWebName,
  setWebPolicy,
  showWebNames,
  WEB_TRIAL_HEADER,
  type WebProtection,
} from '@palisade/contract/web-protection';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { householdOf, profileOf, webDeviceOf, webProtectionOf } from '#api/fake-devices.ts';
import { at, FakeServer, refusal } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
import { hasUsableSteps } from './instructions.tsx';
import { WebProtectionPage } from './web-protection-page.tsx';

const AT = '2026-11-26T08:00:00.000Z';
const DEVICE = webDeviceOf();
const WEB = webProtectionOf({ devices: [DEVICE] });
const REFUSED = {
  id: DEVICE.id,
  device_id: DEVICE.id,
  name: 'x.ads.example',
  rule: 'ads.example',
  category: 'ads',
  count: 2,
  last_at: AT,
};

const server = FakeServer.ofEachTest();
const user = userEvent.setup();

beforeEach(() => {
  server.answer(listWebRefusals, []);
});

function open(web: Partial<WebProtection> = {}) {
  server.answer(readWebProtection, { ...WEB, ...web });
  renderForTest(<WebProtectionPage />);
}

describe('adding a device', () => {
  it('takes three presses, shows the steps for its system, and waits for it', async () => {
    open({ devices: [] });
    await screen.findByRole('heading', { name: 'No device is protected yet.' });
    expect(screen.queryByRole('region', { name: 'What to block' })).toBeNull();
    const added = { ...DEVICE, last_question_at: null };
    server.answer(addWebDevice, added);
    await user.click(screen.getByRole('button', { name: /^Android/ }));
    expect(screen.getByRole('textbox', { name: 'Name' })).toHaveValue('My Android phone');
    server.answer(readWebProtection, { ...WEB, devices: [added] });
    await user.click(screen.getByRole('button', { name: 'Add device' }));
    expect(await screen.findByText(`${DEVICE.key}.dns.example.com`)).toBeVisible();
    expect(screen.getAllByText('Waiting for this device').length).toBeGreaterThan(0);
    expect(server.calls).toContainEqual(
      expect.objectContaining({ method: 'POST', body: { kind: 'android', name: 'My Android phone' } }),
    );
  });
});

it('does not say that nothing was refused while the questions of a profile’s device were', async () => {
  open({ devices: [{ ...DEVICE, refused: [{ category: 'games', count: 1 }] }] });
  expect(await screen.findByRole('link', { name: 'Open Household' })).toHaveAttribute('href', '/household');
  expect(screen.queryByText('Nothing was refused')).toBeNull();
});

it('adds a device for a person of the household, and leads back to them', async () => {
  const mia = profileOf();
  server.answer(readWebProtection, { ...WEB, devices: [] });
  server.answer(readHousehold, householdOf({ profiles: [mia] }));
  server.answer(at(setDeviceProfile, DEVICE), undefined);
  server.answer(addWebDevice, DEVICE);
  renderForTest(<WebProtectionPage />, `/?add=&for=${mia.id}`);
  await screen.findByRole('region', { name: 'Which device does Mia use?' });
  expect(screen.queryByRole('button', { name: /^Router/ })).toBeNull();
  await user.click(screen.getByRole('button', { name: /^Android/ }));
  expect(screen.getByRole('textbox', { name: 'Name' })).toHaveValue('Mia’s Android phone');
  await user.click(screen.getByRole('button', { name: 'Add device' }));
  await waitFor(() =>
    expect(server.calls).toContainEqual(expect.objectContaining({ method: 'PUT', body: { profile_id: mia.id } })),
  );
});

describe('the address of a browser', () => {
  const BROWSER = { ...DEVICE, kind: 'browser', last_question_at: null } as const;
  const ADDRESS = { ...addWebDevice, path: `/dns/${BROWSER.key}` } as const;
  const MESSAGE = { 'content-type': 'application/dns-message' };

  it.each([
    ['an answer', { status: 200, text: '\0\0\x80', headers: MESSAGE }, 'This address answers.'],
    ['a key that no device has', refusal('not_found', { detail: 'No device has this address.' }), 'No device has this address.'],
    ['a page of a proxy', { status: 200, text: '<!doctype html>' }, /^This address doesn’t answer\. Ask the administrator/],
    ['a question that came back', { status: 200, text: '\0\0\x01', headers: MESSAGE }, /^This address doesn’t answer\./],
  ])('is tried with its steps: %s', async (_what, answer, sentence) => {
    server.on(ADDRESS, answer);
    open({ devices: [BROWSER] });
    await user.click(await screen.findByRole('button', { name: 'Show steps' }));
    expect(await screen.findByText(sentence)).toBeVisible();
    expect(server.callsOf(ADDRESS)[0]?.headers.get(WEB_TRIAL_HEADER)).toBe('1');
  });

  it('can be tried again', async () => {
    server.lose(ADDRESS);
    open({ devices: [BROWSER] });
    await user.click(await screen.findByRole('button', { name: 'Show steps' }));
    await screen.findByText(/^This address doesn’t answer\./);
    server.on(ADDRESS, { status: 200, text: '\0\0\x80', headers: MESSAGE });
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByText('This address answers.')).toBeVisible();
  });
});

it('says that the plan has no room, before a device is chosen', async () => {
  open({ devices_maximum: 1, devices_left: 0 });
  await user.click(await screen.findByRole('button', { name: 'Add a device' }));
  expect(screen.getByText(/^Your plan has web protection for 1 device\./)).toBeVisible();
  expect(screen.queryByRole('button', { name: /^Android/ })).toBeNull();
});

describe('the devices', () => {
  it('are protected while their questions arrive', async () => {
    open();
    expect(await screen.findByRole('heading', { name: `${DEVICE.name} is protected.` })).toBeVisible();
    expect(screen.getByText('Android · 42 website requests in 24 hours')).toBeVisible();
    expect(screen.getByText('2 refused: ads and trackers')).toBeVisible();
  });

  it('are not called protected where the server has only the provider’s own list', async () => {
    open({ has_dangerous: false });
    expect(await screen.findByRole('heading', { name: `${DEVICE.name} is connected.` })).toBeVisible();
    expect(screen.getByText(/^2 website requests were refused in 24 hours\. This server knows few/)).toBeVisible();
  });

  it('of people of the home are marked', async () => {
    open({
      devices: [DEVICE, { ...DEVICE, id: '01999999-0000-7000-8000-000000000002', name: 'Mia’s browser', is_of_household: true }],
    });
    expect(await screen.findByText('Mia’s browser')).toBeVisible();
    expect(screen.getAllByText('In Household')).toHaveLength(1);
  });

  it('that never asked lead to their steps, not to a further device', async () => {
    open({ devices: [{ ...DEVICE, last_question_at: null }] });
    expect(await screen.findByRole('heading', { name: `Finish the steps on ${DEVICE.name}.` })).toBeVisible();
    expect(screen.getByRole('button', { name: 'Add a device' })).toHaveAttribute('data-variant', 'quiet');
    expect(screen.getByRole('button', { name: 'Show steps' })).toHaveAttribute('data-variant', 'primary');
    expect(screen.queryByRole('button', { name: 'Pause for an hour' })).not.toBeInTheDocument();
  });

  it('are not called protected without questions', async () => {
    open({ devices: [{ ...DEVICE, is_silent: true, usual_gap_h: 52 }] });
    expect(await screen.findByRole('heading', { name: 'No device is protected now.' })).toBeVisible();
    expect(screen.getByText(/^No website request since/)).toBeVisible();
    expect(screen.getByText(/^Usually it asks again within 3 days\./)).toBeVisible();
  });
});

describe('all names of a device', () => {
  function ofDevice<E extends Endpoint>(endpoint: E): E {
    return { ...endpoint, path: endpoint.path.replace('{id}', DEVICE.id) };
  }
  const [of, show] = [ofDevice(listShownNames), ofDevice(showWebNames)];

  it('are shown for an hour, and deleted at once when their person stops', async () => {
    server.answer(show, { names_until: '2100-01-01T00:00:00.000Z' });
    server.answer(of, [{ id: DEVICE.id, name: 'shop.example', count: 3, last_at: AT }]);
    open();
    await user.click(await screen.findByRole('button', { name: 'Actions' }));
    server.answer(readWebProtection, { ...WEB, devices: [{ ...DEVICE, names_until: '2100-01-01T00:00:00.000Z' }] });
    await user.click(await screen.findByRole('menuitem', { name: 'Show all names for an hour' }));
    expect(await screen.findByText('shop.example')).toBeVisible();
    server.answer(readWebProtection, WEB);
    await user.click(screen.getByRole('button', { name: 'Stop and delete' }));
    await waitFor(() => expect(screen.queryByText('shop.example')).toBeNull());
    expect(server.callsOf(show).map(({ body }) => body)).toEqual([{ shown: true }, { shown: false }]);
  });

  it('are never offered for a network', async () => {
    open({ devices: [{ ...DEVICE, kind: 'router', can_show_names: false }] });
    await user.click(await screen.findByRole('button', { name: 'Actions' }));
    await screen.findByRole('menuitem', { name: 'Remove device' });
    expect(screen.queryByRole('menuitem', { name: 'Show all names for an hour' })).toBeNull();
  });
});

describe('refused websites', () => {
  it('say why, and can be allowed and blocked again', async () => {
    server.answer(listWebRefusals, [REFUSED]);
    open();
    await user.click(await screen.findByRole('button', { name: 'Why was x.ads.example refused?' }));
    expect(screen.getByText('ads.example belongs to “Ads and trackers”, which you block.')).toBeVisible();
    const allowed = { id: DEVICE.id, name: 'x.ads.example', verdict: 'allow', created_at: AT } as const;
    server.answer(addWebName, allowed);
    server.answer(readWebProtection, { ...WEB, names: [allowed] });
    await user.click(screen.getByRole('button', { name: 'Allow x.ads.example' }));
    server.answer(removeWebName, undefined);
    await user.click(await screen.findByRole('button', { name: 'Block x.ads.example again' }));
    await waitFor(() => expect(server.calls).toContainEqual(expect.objectContaining({ method: 'DELETE' })));
  });

  it('offer no allow for dangerous ones', async () => {
    server.answer(listWebRefusals, [{ ...REFUSED, category: 'dangerous' }]);
    open();
    await screen.findByRole('button', { name: 'Why was x.ads.example refused?' });
    expect(screen.queryByRole('button', { name: 'Allow x.ads.example' })).toBeNull();
  });
});

it('says first whom the choices govern', async () => {
  open();
  const choices = within(await screen.findByRole('region', { name: 'What to block' }));
  expect(choices.getByText(/^For your own devices\./)).toHaveTextContent('People in Household have their own rules.');
});

it.each([
  ['apple', 'https:', 'shield.example', true],
  ['apple', 'http:', '127.0.0.1', true],
  ['apple', 'http:', 'localhost', true],
  ['apple', 'http:', 'shield.example', false],
  ['browser', 'http:', '127.0.0.1.shield.example', false],
  ['android', 'http:', 'shield.example', true],
  ['router', 'http:', 'shield.example', false],
] as const)('shows %s steps on %s//%s: %s', (kind, protocol, hostname, isShown) => {
  const ways = { tls_host: 'dns.example.com', addresses: [], plain: null };
  expect(hasUsableSteps(kind, ways, { protocol, hostname })).toBe(isShown);
});

it('sends each choice whole, and says which lists are missing', async () => {
  open();
  const card = within(await screen.findByRole('region', { name: 'What to block' }));
  expect(card.getAllByText(/^This server has no list for .*gambling/u)).toHaveLength(1);
  expect(card.queryByRole('switch', { name: /^Gambling/u })).toBeNull();
  expect(card.getByRole('button', { name: 'Pause for an hour' })).toBeEnabled();
  server.answer(setWebPolicy, { categories: ['ads'], services: ['tiktok'], safe_search: 'off' });
  await user.click(card.getByText('Video and music'));
  await user.click(card.getByRole('checkbox', { name: 'TikTok' }));
  await waitFor(() =>
    expect(server.calls).toContainEqual(
      expect.objectContaining({ method: 'PUT', body: { categories: ['ads'], services: ['tiktok'], safe_search: 'off' } }),
    ),
  );
});
