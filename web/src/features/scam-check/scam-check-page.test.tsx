import type { Endpoint } from '@palisade/contract/endpoint';
import {
  checkScamText,
  deleteScamCheck,
  listProviderDomains,
  listScamChecks,
  listTrustedDomains,
  type ScamAnswer,
  trustDomain,
} from '@palisade/contract/scam-check';
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeServer, refusal } from '#api/fake-server.ts';
import { renderForTest } from '#ui/render-for-test.tsx';
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

let server: FakeServer;

beforeEach(() => {
  server = new FakeServer();
  server.answer(listScamChecks, []);
  server.answer(listTrustedDomains, []);
  server.answer(listProviderDomains, []);
});

function at<E extends Endpoint>(endpoint: E, id: string): E {
  return { ...endpoint, path: endpoint.path.replace('{id}', id) };
}

function open() {
  renderForTest(<ScamCheckPage />);
  return userEvent.setup();
}

const region = async (name: string) => within(await screen.findByRole('region', { name }));

async function checkMessage(user: ReturnType<typeof userEvent.setup>) {
  await user.click(screen.getByLabelText('Message, link or email'));
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
    expect(why.getByText(link)).toBeVisible();
    expect((await region('What’s in it')).getByText('Imitates PayPal')).toBeVisible();
    const looked = await region('What we checked');
    expect(within(looked.getByRole('list', { name: 'Not checked' })).getByText('We never open links.')).toBeVisible();
    expect(looked.queryByText('There’s no picture.')).not.toBeInTheDocument();
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
    expect(screen.getByLabelText('Message, link or email')).toHaveValue(`Go ${link}`);
  });

  it('takes an older answer away when the text changes', async () => {
    server.answer(checkScamText, { ...ANSWER, id: null });
    const user = open();
    await checkMessage(user);
    await screen.findByRole('region', { name: 'Why' });
    await user.type(screen.getByLabelText('Message, link or email'), '!');
    expect(screen.queryByRole('region', { name: 'Why' })).not.toBeInTheDocument();
  });
});

describe('kept checks', () => {
  it('are opened, and deleted after a second press', async () => {
    server.answer(listScamChecks, [{ id: ID, created_at: AT, excerpt: `Go ${link}`, answer: ANSWER }]);
    const gone = at(deleteScamCheck, ID);
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
    await user.type(await screen.findByLabelText('Domain to trust'), 'example.com');
    server.answer(listTrustedDomains, [added]);
    await user.click(screen.getByRole('button', { name: 'Trust it' }));
    expect(await screen.findByRole('button', { name: 'Remove example.com' })).toBeVisible();
  });
});
