import type { Role } from '@palisade/contract/auth';

/** The caller: the conversation's owner, another customer, a technician, an administrator. */
export type Asking = 'owner' | 'other' | 'support' | 'admin';

/** The record that the address names. */
type Named =
  | 'conversation'
  | 'shared message'
  | 'kept mail'
  | 'sent file'
  | 'unsent file'
  | 'file in a note'
  | 'canned answer'
  | 'article'
  | 'remote session';

interface DeskRecord {
  names: Named;
  body?: object;
  /** The right answer for each: a status, or `done` for any success. */
  answers: Record<Asking, 403 | 404 | 409 | 503 | 'done'>;
  least: Role;
}

const staff = { owner: 403, other: 403, support: 'done', admin: 'done' } as const;
const administrators = { owner: 403, other: 403, support: 403, admin: 'done' } as const;
const ofConversation = (body?: object): DeskRecord => ({
  names: 'conversation',
  ...(body !== undefined && { body }),
  answers: staff,
  least: 'support',
});

const canned = { shortcut: 'hi', title: 'Greeting', text: 'Hello' };
const article = { slug: 'a-page', title: 'A page', summary: 'What it is about.', body: 'Text.', is_published: true };

/** Every address of the support desk and the help pages that names a record, and the answer for each caller. */
export const DESK_RECORDS: Record<string, DeskRecord> = {
  'GET /support/conversations/{id}': ofConversation(),
  'PATCH /support/conversations/{id}': ofConversation({ priority: 'low' }),
  'GET /support/conversations/{id}/messages': ofConversation(),
  'POST /support/conversations/{id}/messages': ofConversation({ message: 'Hello', is_note: false }),
  'POST /support/conversations/{id}/read': ofConversation({ seq: 1 }),
  'POST /support/conversations/{id}/claim': ofConversation(),
  'POST /support/conversations/{id}/assign': ofConversation({ assignee_id: null }),
  'POST /support/conversations/{id}/close': ofConversation(),
  'POST /support/conversations/{id}/reopen': { ...ofConversation(), answers: { ...staff, support: 409, admin: 409 } },
  'POST /support/conversations/{id}/snooze': ofConversation({ until: new Date(Date.now() + 3_600_000).toISOString() }),
  'GET /support/conversations/{id}/customer': ofConversation(),
  'POST /support/conversations/{id}/remote-session': ofConversation(),
  'GET /support/conversations/{id}/transcript': ofConversation(),
  'GET /support/messages/{id}/shared': { names: 'shared message', answers: staff, least: 'support' },
  // Its message is there already, and its bytes are not.
  'POST /support/mails/{id}/take': { names: 'kept mail', answers: { ...staff, support: 409, admin: 409 }, least: 'support' },
  'GET /support/mails/{id}/file': { names: 'kept mail', answers: { ...staff, support: 503, admin: 503 }, least: 'support' },
  'GET /chat/attachments/{id}': {
    names: 'sent file',
    answers: { owner: 'done', other: 404, support: 'done', admin: 'done' },
    least: 'customer',
  },
  'GET /chat/attachments/{id}/file': {
    names: 'file in a note',
    answers: { owner: 404, other: 404, support: 'done', admin: 'done' },
    least: 'customer',
  },
  'DELETE /chat/attachments/{id}': {
    names: 'unsent file',
    answers: { owner: 'done', other: 404, support: 404, admin: 404 },
    least: 'customer',
  },
  'GET /admin/remote-sessions/{id}/audit': { names: 'remote session', answers: administrators, least: 'admin' },
  'POST /admin/remote-sessions/{id}/end': { names: 'remote session', answers: administrators, least: 'admin' },
  'PUT /admin/canned-answers/{id}': { names: 'canned answer', body: canned, answers: administrators, least: 'admin' },
  'DELETE /admin/canned-answers/{id}': { names: 'canned answer', answers: administrators, least: 'admin' },
  'PUT /admin/help-articles/{id}': { names: 'article', body: article, answers: administrators, least: 'admin' },
  'DELETE /admin/help-articles/{id}': { names: 'article', answers: administrators, least: 'admin' },
};
