import {
  checkScamFile,
  checkScamText,
  deleteScamCheck,
  listProviderDomains,
  listScamChecks,
  listTrustedDomains,
  type ScamAnswer,
  trustDomain,
} from '@palisade/contract/scam-check';
import { addWebName, checkWebName, readWebProtection } from '@palisade/contract/web-protection';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { webDeviceOf, webProtectionOf } from '#api/fake-devices.ts';
import { at, FakeServer, refusal, reply } from '#api/fake-server.ts';
import { renderForTest, textsOf } from '#ui/render-for-test.tsx';
import { ScamCheckPage } from './scam-check-page.tsx';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const AT = '2026-11-26T08:00:00.000Z';
const advice = (code: string, sentence: string) => [{ code, sentence }];
const link = 'https://paypa1-secure.com/login';

const ANSWER: ScamAnswer = {
  verdict: 'dangerous',
  headline: 'This is very likely a scam.',
  kind: 'text',
  reasons: [
    {
      code: 'brand_in_address',
      params: {},
      sentence: 'paypa1-secure.com uses the name PayPal, but doesn’t belong to it.',
      span: { source: 'text', index: 0, start: 3, end: 34, text: link },
      weight: 2,
    },
  ],
  parts: {
    links: [
      {
        shown: link,
        url: link,
        host: 'paypa1-secure.com',
        host_shown: 'paypa1-secure.com',
        owner: 'paypa1-secure.com',
        kind: 'web',
        brand: null,
        imitates: 'PayPal',
        trust: 'suspicious',
        span: null,
      },
    ],
    sender: null,
    organisations: [],
    asks: [],
    codes: [],
    numbers: [],
    accounts: [],
  },
  advice: {
    nothing: advice('leave', 'Don’t tap the link.'),
    clicked: advice('close', 'Close the page.'),
    gave_data: advice('password', 'Change your password.'),
    paid: advice('bank', 'Call your bank.'),
    gave_access: advice('offline', 'Take the device offline.'),
  },
  checked: [
    { part: 'words', state: 'checked', code: null, sentence: 'We read the words in eight languages.' },
    { part: 'link_target', state: 'not_checked', code: 'never_visited', sentence: 'We never open links.' },
    { part: 'codes', state: 'absent', code: null, sentence: 'There’s no picture.' },
  ],
};

const server = FakeServer.ofEachTest();

beforeEach(() => {
  server.answer(listScamChecks, []);
  server.answer(listTrustedDomains, []);
  server.answer(listProviderDomains, []);
  server.answer(readWebProtection, webProtectionOf());
});

function open() {
  renderForTest(<ScamCheckPage />);
  return userEvent.setup();
}

const region = async (name: string) => within(await screen.findByRole('region', { name }));

async function checkMessage(user: ReturnType<typeof userEvent.setup>) {
  await user.click(screen.getByLabelText('Message, link, email, or phone number'));
  await user.paste(`Go ${link}`);
  await user.click(screen.getByRole('button', { name: 'Check it' }));
}

describe('a check', () => {
  it('shows the verdict, its reasons with their place, and who receives the click', async () => {
    server.answer(checkScamText, { ...ANSWER, id: null });
    const user = open();
    expect(screen.getByRole('button', { name: 'Check it' })).toBeDisabled();
    await checkMessage(user);
    expect(await screen.findByRole('region', { name: 'This is very likely a scam.' })).toHaveAttribute('data-tone', 'danger');
    const why = await region('Why');
    expect(why.getByText(/uses the name PayPal/u)).toBeVisible();
    expect(why.getByText(link, { selector: 'mark' })).toBeVisible();
    expect(why.getByText(link, { selector: 'bdi' })).toBeVisible();
    expect((await region('What’s in it')).getByText('Imitates PayPal')).toBeVisible();
    const looked = await region('What we checked');
    expect(within(looked.getByRole('list', { name: 'Not checked' })).getByText('We never open links.')).toBeVisible();
    expect(looked.queryByText('There’s no picture.')).not.toBeInTheDocument();
  });

  it('offers to refuse a dangerous website on the devices, but none of which a page alone is listed', async () => {
    const page = { url: 'https://sites.example/x', host: 'sites.example', host_shown: 'sites.example', imitates: null };
    const links = ANSWER.parts.links.flatMap((one) => [one, { ...one, ...page, trust: 'listed' as const }]);
    const parts = { ...ANSWER.parts, links };
    server.answer(checkScamText, { ...ANSWER, parts, id: null });
    server.answer(readWebProtection, webProtectionOf({ devices: [webDeviceOf()] }));
    server.answer(checkWebName, { is_refused: false });
    server.answer(addWebName, { id: ID, name: 'paypa1-secure.com', verdict: 'block', created_at: AT });
    const user = open();
    await checkMessage(user);
    const card = await region('Web protection');
    await user.click(await card.findByRole('button', { name: 'Block paypa1-secure.com on my devices' }));
    expect(await card.findByText(/within a minute/u)).toBeVisible();
    expect(card.queryByText('sites.example')).toBeNull();
    expect(server.callsOf(addWebName).map(({ body }) => body)).toEqual([{ name: 'paypa1-secure.com', verdict: 'block' }]);
  });

  it('says that the devices refuse a website already', async () => {
    server.answer(checkScamText, { ...ANSWER, id: null });
    server.answer(readWebProtection, webProtectionOf({ devices: [webDeviceOf()] }));
    server.answer(checkWebName, { is_refused: true });
    await checkMessage(open());
    const card = await region('Web protection');
    expect(await card.findByText(/already refuse/u)).toBeVisible();
    expect(card.queryByRole('button')).toBeNull();
  });

  it('changes the advice with what the person has done', async () => {
    server.answer(checkScamText, { ...ANSWER, id: null });
    const user = open();
    await checkMessage(user);
    const todo = await region('What to do');
    expect(todo.getByText('Don’t tap the link.')).toBeVisible();
    await user.click(todo.getByRole('radio', { name: 'I paid' }));
    expect(todo.getByText('Call your bank.')).toBeVisible();
    expect(todo.queryByText('Don’t tap the link.')).not.toBeInTheDocument();
  });

  it('says why it was refused, and keeps the text', async () => {
    server.on(checkScamText, refusal('too_many_requests', { detail: 'You can check 30 messages a minute.' }));
    const user = open();
    await checkMessage(user);
    expect(await screen.findByRole('alert')).toHaveTextContent('You can check 30 messages a minute.');
    expect(screen.getByLabelText('Message, link, email, or phone number')).toHaveValue(`Go ${link}`);
  });

  it('takes an older answer away when the text changes', async () => {
    server.answer(checkScamText, { ...ANSWER, id: null });
    const user = open();
    await checkMessage(user);
    await screen.findByRole('region', { name: 'Why' });
    await user.type(screen.getByLabelText('Message, link, email, or phone number'), '!');
    expect(screen.queryByRole('region', { name: 'Why' })).not.toBeInTheDocument();
  });
});

describe('examples', () => {
  it.each(['A message', 'A link', 'A phone number'])(
    '%s fills the empty field, and is checked on a press alone',
    async (name) => {
      const user = open();
      await user.click(screen.getByRole('button', { name }));
      const field = screen.getByLabelText('Message, link, email, or phone number');
      expect(field).not.toHaveValue('');
      expect(field).toHaveFocus();
      expect(screen.queryByRole('group', { name: 'Examples' })).not.toBeInTheDocument();
      expect(server.calls.filter(({ method }) => method === 'POST')).toEqual([]);
    },
  );
});

const files = (...names: string[]) => names.map((name) => new File(['From: a'], name, { type: 'message/rfc822' }));
const picker = () => screen.getByLabelText('Choose a picture or an email');

describe('files', () => {
  it('are all checked, each with its answer', async () => {
    const user = open();
    await user.upload(picker(), files('a.eml', 'b.eml'));
    await user.click(screen.getByRole('button', { name: 'Check it' }));
    for (const [index, verdict] of (['nothing_found', 'dangerous'] as const).entries()) {
      await waitFor(() => expect(server.uploads).toHaveLength(index + 1));
      const answer = { ...ANSWER, verdict, headline: `It is ${verdict}.`, id: null };
      server.uploads[index]?.answer(reply(checkScamFile, answer));
    }
    expect(await screen.findByRole('region', { name: 'It is dangerous.' })).toBeVisible();
    expect(screen.getByRole('region', { name: 'It is nothing_found.' })).toBeVisible();
    expect(screen.getByRole('heading', { name: 'a.eml' })).toBeVisible();
    expect(screen.getByRole('heading', { name: 'b.eml' })).toBeVisible();
  });

  it('beyond the maximum are named', async () => {
    const user = open();
    await user.upload(picker(), files(...Array.from({ length: 12 }, (_, at) => `${at}.eml`)));
    expect(textsOf(screen.getAllByRole('alert'))).toEqual([
      '10.eml is left out: choose at most 10 files.',
      '11.eml is left out: choose at most 10 files.',
    ]);
  });
});

describe('permission for the DNS', () => {
  it('is asked for, and the page says what leaves', async () => {
    const user = open();
    const nothing = /Nothing leaves this server/u;
    expect(screen.getByText(nothing)).toBeVisible();
    await user.upload(picker(), files('a.eml'));
    expect(screen.getByText(nothing)).toBeVisible();
    await user.click(screen.getByRole('switch', { name: 'Ask the DNS who sent an email' }));
    expect(screen.queryByText(nothing)).not.toBeInTheDocument();
    expect(screen.getByText(/up to two DNS questions about the sender’s domain leave/u)).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Check it' }));
    await waitFor(() => expect(server.uploads).toHaveLength(1));
    expect(server.uploads[0]?.address).toContain('ask_dns=true');
  });
});

describe('a message that came from elsewhere', () => {
  it('is filled in, and checked on a press alone', async () => {
    const active = {
      postMessage: (_: unknown, [port]: MessagePort[]) => port?.postMessage({ text: `Go ${link}`, files: [] }),
    };
    const serviceWorker = { getRegistration: () => Promise.resolve({ active }) };
    Object.defineProperty(navigator, 'serviceWorker', { configurable: true, value: serviceWorker });
    onTestFinished(() => void Reflect.deleteProperty(navigator, 'serviceWorker'));
    server.answer(checkScamText, { ...ANSWER, id: null });
    renderForTest(<ScamCheckPage />, '/scam-check?shared=1');
    expect(await screen.findByText(/came from another app or website/u)).toBeVisible();
    expect(screen.getByLabelText('Message, link, email, or phone number')).toHaveValue(`Go ${link}`);
    const sent = () => server.calls.filter(({ method }) => method === 'POST');
    expect(sent()).toEqual([]);
    await userEvent.click(screen.getByRole('button', { name: 'Check it' }));
    expect(await screen.findByRole('region', { name: 'This is very likely a scam.' })).toBeVisible();
    expect(sent()).toHaveLength(1);
  });
});

describe('kept checks', () => {
  it('that cannot be read say so', async () => {
    server.on(listScamChecks, refusal('unavailable', { detail: 'The server is busy.' }));
    open();
    const kept = await region('Kept checks');
    expect(kept.getByRole('alert')).toHaveTextContent('The server is busy.');
    expect(kept.getByRole('button', { name: 'Retry' })).toBeVisible();
  });

  it('are opened, and deleted after a second press', async () => {
    server.answer(listScamChecks, [{ id: ID, created_at: AT, excerpt: `Go ${link}`, answer: ANSWER }]);
    const gone = at(deleteScamCheck, { id: ID });
    server.answer(gone, undefined);
    const user = open();
    const kept = await region('Kept checks');
    await user.click(kept.getByRole('button', { name: /^Delete: / }));
    expect(server.calls.filter(({ method }) => method === 'DELETE')).toHaveLength(0);
    await user.click(kept.getByRole('button', { name: /^Really delete: / }));
    expect(server.calls.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  });
});

describe('trusted domains', () => {
  it('are added', async () => {
    const added = { id: ID, domain: 'example.com', created_at: AT };
    server.answer(trustDomain, added);
    const user = open();
    await user.click(await screen.findByText('Settings: domains you trust'));
    await user.type(screen.getByLabelText('Domain to trust'), 'example.com');
    server.answer(listTrustedDomains, [added]);
    await user.click(screen.getByRole('button', { name: 'Trust it' }));
    expect(await screen.findByRole('button', { name: 'Remove example.com' })).toBeVisible();
  });
});
