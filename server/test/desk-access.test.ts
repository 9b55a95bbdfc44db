import { sendMessage, shareThing } from '@palisade/contract/chat';
import { answerConversation, createCanned } from '@palisade/contract/desk';
import { addRule } from '@palisade/contract/firewall';
import { createArticle } from '@palisade/contract/help';
import { createSession } from '@palisade/contract/remote';
import { expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { enrol } from './agent-double.ts';
import { type Asking, DESK_RECORDS } from './desk-records.ts';
import { allEndpoints } from './endpoints.ts';
import { replyOf, startTestApp } from './harness.ts';
import { insertRow, oneRow } from './rows.ts';
import { attach } from './upload.ts';

const app = await startTestApp();
const { call } = app;
const ASKING: readonly Asking[] = ['owner', 'other', 'support', 'admin'];
const tokens = {
  admin: (await app.signIn('boss')).token,
  owner: (await app.signIn('owner')).token,
  other: (await app.signIn('other')).token,
  support: (await app.signIn('ana', 'support')).token,
};
// The other one is a customer with a conversation of their own.
await call(sendMessage, { token: tokens.other, body: { message: 'hello', sender: 'user' } });
let made = 0;

/** Makes a new record for an address. */
const MAKE = {
  async conversation() {
    const { conversation_id } = replyOf(
      await call(sendMessage, { token: tokens.owner, body: { message: 'hello', sender: 'user' } }),
    );
    // It is unassigned, so any staff member may claim it.
    await app.app.database.updateTable('conversations').set({ assignee_id: null, status: 'open' }).execute();
    return conversation_id;
  },

  async 'shared message'() {
    const { token } = { token: tokens.owner };
    const rule = { rule_name: 'Web', direction: 'inbound', action: 'allow', protocol: 'tcp' } as const;
    const { id: subject_id } = replyOf(await call(addRule, { token, body: rule }));
    return replyOf(await call(shareThing, { token, body: { thing: 'rule', subject_id } })).id;
  },

  async 'kept mail'() {
    const conversation_id = await MAKE.conversation();
    const id = newId();
    const { user_id } = await oneRow(app.app.database, 'conversations', { id: conversation_id });
    await insertRow(app.app.database, 'arrived_mails', {
      ...{ id, conversation_id, user_id, mail_key: id, state: 'message', size: 1, sha256: '0'.repeat(64) },
      ...{ message_id: null, arrived_at: new Date().toISOString(), read_at: null },
    });
    return id;
  },

  async 'unsent file'() {
    return (await attach(app, tokens.owner, 'a.txt', Buffer.from('plain text'))).id;
  },

  async 'sent file'() {
    const { id } = await attach(app, tokens.owner, 'a.txt', Buffer.from('plain text'));
    const body = { message: '', sender: 'user', attachment_ids: [id] } as const;
    replyOf(await call(sendMessage, { token: tokens.owner, body: { ...body, attachment_ids: [id] } }));
    return id;
  },

  async 'file in a note'() {
    const conversation_id = await MAKE.conversation();
    const { id } = await attach(app, tokens.support, 'a.txt', Buffer.from('for colleagues'));
    const body = { message: 'look', is_note: true, attachment_ids: [id] };
    replyOf(await call(answerConversation, { token: tokens.support, params: { id: conversation_id }, body }));
    return id;
  },

  async 'canned answer'() {
    made += 1;
    const body = { shortcut: `answer-${made}`, title: 'A', text: 'A' };
    return replyOf(await call(createCanned, { token: tokens.admin, body })).id;
  },

  async 'remote session'() {
    return replyOf(await call(createSession, { token: tokens.owner })).id;
  },

  async article() {
    made += 1;
    const body = { slug: `page-${made}`, title: 'A', summary: 'A', body: 'A', is_published: false };
    return replyOf(await call(createArticle, { token: tokens.admin, body })).id;
  },
};

const OF_THE_DESK = /^\/(?:chat|support|help|admin\/(?:canned-answers|help-articles|desk))\b/;

test('the token of a device opens no part of the chat, the desk or the help pages', async () => {
  const { token } = await enrol(app, tokens.owner);
  const endpoints = (await allEndpoints()).filter(({ path, access }) => OF_THE_DESK.test(path) && access !== 'anyone');
  expect(endpoints.length).toBeGreaterThan(35);
  for (const { key, method, path } of endpoints) {
    const response = await app.fetch(`/api${path.replace('{id}', '01890a5d-ac96-774b-bcce-b302099a8057')}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
    });
    expect({ key, status: response.status }).toEqual({ key, status: 401 });
  }
});

// proves: support-scale-5
test.each(Object.entries(DESK_RECORDS))('%s gives each who asks the right answer', async (key, { names, body, answers }) => {
  const [method = '', path = ''] = key.split(' ');
  for (const asking of ASKING) {
    const id = await MAKE[names]();
    const ask = async (record: string) =>
      (
        await app.fetch(`/api${path.replace('{id}', record)}`, {
          method,
          headers: {
            authorization: `Bearer ${tokens[asking]}`,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
      ).status;
    const right = answers[asking];
    const status = await ask(id);
    expect({ asking, status: right === 'done' && status < 300 ? 'done' : status }).toEqual({ asking, status: right });
    // An unknown record is answered like another person's.
    const nobody = right === 403 ? 403 : 404;
    expect({ asking, status: await ask('01890a5d-ac96-774b-bcce-b302099a8057') }).toEqual({ asking, status: nobody });
  }
});
