// proves: asvs-1.1.1, asvs-1.2.4, asvs-3.5.2, asvs-3.5.3, asvs-6.1.3, asvs-8.3.1, asvs-13.4.5
import type { Access } from '@palisade/contract/endpoint';
import { type ProblemDocument, problemSchema } from '@palisade/contract/problem';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DESK_RECORDS } from './desk-records.ts';
import { allEndpoints } from './endpoints.ts';
import { startListeningScanningApp } from './harness.ts';
import { type Asker, RECORDS } from './owned-records.ts';
import { scanned } from './upload.ts';

/** The access table: the roles that may call each endpoint. A new endpoint fails here until it stands in it. */
const ACCESS: Record<string, Access> = {
  'GET /config': 'anyone',
  'GET /health': 'anyone',
  'GET /ready': 'anyone',

  'POST /auth/login': 'anyone',
  'POST /auth/register': 'anyone',
  'POST /auth/forgot-password': 'anyone',
  'POST /auth/reset-password': 'anyone',
  'POST /auth/recover-username': 'anyone',
  'POST /auth/accept-invitation': 'anyone',
  'POST /auth/logout': 'customer',
  'POST /auth/change-password': 'customer',
  'POST /auth/login/two-factor': 'anyone',
  'POST /auth/login/two-factor/passkey': 'anyone',
  'POST /auth/login/passkey': 'anyone',
  'POST /auth/login/passkey/options': 'anyone',
  'GET /auth/two-factor': 'customer',
  'DELETE /auth/two-factor': 'customer',
  'POST /auth/two-factor/confirm': 'customer',
  'POST /auth/two-factor/confirm/passkey': 'customer',
  'POST /auth/two-factor/totp': 'customer',
  'POST /auth/two-factor/totp/activate': 'customer',
  'DELETE /auth/two-factor/totp': 'customer',
  'POST /auth/two-factor/passkeys/options': 'customer',
  'POST /auth/two-factor/passkeys': 'customer',
  'PATCH /auth/two-factor/passkeys/{id}': 'customer',
  'DELETE /auth/two-factor/passkeys/{id}': 'customer',
  'POST /auth/two-factor/recovery-codes': 'customer',
  'GET /auth/me': 'customer',
  'PATCH /auth/me': 'customer',
  'POST /auth/send-email-proof': 'customer',
  'POST /auth/prove-email': 'customer',
  'GET /auth/audit': 'customer',
  'POST /auth/export': 'customer',
  'POST /auth/delete-account': 'customer',
  'GET /auth/audit/export': 'customer',
  'GET /auth/sessions': 'customer',
  'POST /auth/sessions/{id}/end': 'customer',
  'POST /auth/end-other-sessions': 'customer',

  'GET /dashboard/status': 'customer',
  'GET /antivirus/scans': 'customer',
  'GET /antivirus/scan-counts': 'customer',
  'POST /antivirus/scan': 'customer',
  'PUT /antivirus/infections': 'customer',
  'GET /antivirus/scans/{id}': 'customer',
  'DELETE /antivirus/scans/{id}': 'customer',
  'GET /antivirus/scans/{id}/file': 'customer',
  'DELETE /antivirus/scans/{id}/file': 'customer',
  'POST /antivirus/scans/{id}/password': 'customer',
  'POST /antivirus/scans/{id}/report': 'customer',
  'DELETE /antivirus/uploads/{key}': 'customer',
  'GET /antivirus/engine': 'customer',

  'GET /firewall/rules': 'customer',
  'POST /firewall/rules': 'customer',
  'PUT /firewall/rules/{id}': 'customer',
  'PATCH /firewall/rules/{id}': 'customer',
  'DELETE /firewall/rules/{id}': 'customer',
  'GET /devices/wishes': 'customer',
  'POST /devices/wishes': 'customer',
  'POST /devices/wishes/withdraw': 'customer',
  'GET /admin/device-wishes': 'admin',
  'GET /devices': 'customer',
  'GET /devices/{id}': 'customer',
  'POST /remote/sessions/{id}/grants': 'customer',
  'POST /remote/sessions/{id}/revoke': 'customer',
  'POST /devices/enrolment-code': 'customer',
  'PATCH /devices/{id}': 'customer',
  'POST /devices/{id}/revoke': 'customer',
  'POST /devices/{id}/confirm': 'customer',
  'DELETE /devices/{id}': 'customer',
  'GET /devices/counters': 'customer',
  'GET /devices/blocked': 'customer',
  'GET /devices/{id}/scans': 'customer',
  'POST /devices/{id}/scans': 'customer',
  'POST /devices/scans/{id}/steer': 'customer',
  'GET /devices/findings': 'customer',
  'POST /devices/findings/{id}/order': 'customer',
  'POST /devices/findings/{id}/second-look': 'customer',
  'DELETE /devices/findings/{id}/second-look': 'customer',
  // A device names itself in the body, or in the address beside a file, and can call these alone.
  'POST /agent/enrol': 'anyone',
  'POST /agent/verify': 'anyone',
  'POST /agent/poll': 'anyone',
  'POST /agent/signatures': 'anyone',
  'POST /agent/leave': 'anyone',
  'POST /agent/second-look': 'anyone',
  'POST /firewall/rules/change': 'customer',
  'POST /firewall/import': 'customer',
  'GET /firewall/revisions': 'customer',
  'POST /firewall/revisions/{id}/undo': 'customer',

  'GET /push': 'customer',
  'POST /push/subscriptions': 'customer',
  'DELETE /push/subscriptions/{id}': 'customer',
  'POST /push/unsubscribe': 'customer',
  'POST /scam-check': 'customer',
  'GET /scam-check/checks': 'customer',
  'DELETE /scam-check/checks/{id}': 'customer',
  'GET /web-protection': 'customer',
  'POST /web-protection/devices': 'customer',
  'DELETE /web-protection/devices/{id}': 'customer',
  'POST /web-protection/devices/{id}/renew-key': 'customer',
  'POST /web-protection/devices/{id}/show-names': 'customer',
  'GET /web-protection/devices/{id}/names': 'customer',
  'PUT /web-protection/agents/{id}': 'customer',
  'PUT /web-protection/policy': 'customer',
  'POST /web-protection/pause': 'customer',
  'POST /web-protection/names': 'customer',
  'DELETE /web-protection/names/{id}': 'customer',
  'GET /web-protection/refused': 'customer',
  'GET /web-protection/check': 'customer',
  'GET /household': 'customer',
  'PUT /household/time-zone': 'customer',
  'POST /household/profiles': 'customer',
  'PATCH /household/profiles/{id}': 'customer',
  'DELETE /household/profiles/{id}': 'customer',
  'POST /household/profiles/{id}/pause': 'customer',
  'POST /household/profiles/{id}/renew-key': 'customer',
  'POST /household/profiles/{id}/names': 'customer',
  'DELETE /household/names/{id}': 'customer',
  'POST /household/profiles/{id}/try': 'customer',
  'PUT /household/devices/{id}': 'customer',
  'POST /household/asks/{id}/answer': 'customer',
  'POST /household/invites': 'customer',
  'DELETE /household/invites/{id}': 'customer',
  'POST /household/look-at-invite': 'customer',
  'POST /household/join': 'customer',
  'POST /household/leave': 'customer',
  // The person of a profile has no account: the key of their page opens it.
  'POST /ask/look': 'anyone',
  'POST /ask': 'anyone',
  'GET /admin/domain-lists': 'admin',
  'POST /admin/accept-domain-list': 'admin',
  'GET /scam-check/trusted': 'customer',
  'POST /scam-check/trusted': 'customer',
  'DELETE /scam-check/trusted/{id}': 'customer',
  'GET /admin/scam-domains': 'admin',
  'POST /admin/scam-domains': 'admin',
  'POST /admin/remove-scam-domain': 'admin',

  'GET /chat/messages': 'customer',
  'POST /chat/messages': 'customer',
  'GET /chat': 'customer',
  'POST /chat/read': 'customer',
  'POST /chat/person': 'customer',
  'POST /chat/rating': 'customer',
  'POST /chat/share': 'customer',
  'POST /chat/attachments': 'customer',
  'GET /chat/attachments/{id}': 'customer',
  'DELETE /chat/attachments/{id}': 'customer',
  'GET /chat/attachments/{id}/file': 'customer',
  'GET /chat/transcript': 'customer',
  'POST /chat/transcript': 'customer',
  'GET /support/conversations': 'support',
  'GET /support/counts': 'support',
  'GET /support/conversations/{id}': 'support',
  'PATCH /support/conversations/{id}': 'support',
  'GET /support/conversations/{id}/messages': 'support',
  'POST /support/conversations/{id}/messages': 'support',
  'POST /support/conversations/{id}/read': 'support',
  'POST /support/conversations/{id}/claim': 'support',
  'POST /support/conversations/{id}/assign': 'support',
  'POST /support/conversations/{id}/close': 'support',
  'POST /support/conversations/{id}/reopen': 'support',
  'POST /support/conversations/{id}/snooze': 'support',
  'GET /support/conversations/{id}/customer': 'support',
  'POST /support/conversations/{id}/remote-session': 'support',
  'GET /support/conversations/{id}/transcript': 'support',
  'GET /support/messages/{id}/shared': 'support',
  'POST /support/mails/{id}/take': 'support',
  'GET /support/mails/{id}/file': 'support',
  'GET /support/team': 'support',
  'PUT /support/presence': 'support',
  'GET /support/canned-answers': 'support',
  'GET /support/settings': 'support',
  'POST /admin/canned-answers': 'admin',
  'PUT /admin/canned-answers/{id}': 'admin',
  'DELETE /admin/canned-answers/{id}': 'admin',
  'PUT /admin/desk-settings': 'admin',
  'GET /admin/desk-report': 'admin',
  'GET /admin/desk-report/csv': 'admin',
  'GET /help/articles': 'anyone',
  'GET /help/article': 'anyone',
  'GET /help/suggestions': 'customer',
  'GET /admin/help-articles': 'admin',
  'POST /admin/help-articles': 'admin',
  'PUT /admin/help-articles/{id}': 'admin',
  'DELETE /admin/help-articles/{id}': 'admin',
  'GET /remote/sessions': 'customer',
  'POST /remote/session': 'customer',
  'POST /remote/sessions/{id}/cancel': 'customer',
  'POST /remote/sessions/{id}/complete': 'customer',
  'GET /remote/joined': 'support',
  'POST /remote/join': 'support',
  'POST /remote/joined/{id}/complete': 'support',
  'GET /remote/sessions/{id}': 'customer',
  'POST /remote/sessions/{id}/approve': 'customer',
  'POST /remote/sessions/{id}/decline': 'customer',
  'POST /remote/sessions/{id}/reaffirm': 'customer',
  'POST /remote/sessions/{id}/report': 'customer',
  'POST /remote/sessions/{id}/rating': 'customer',
  'GET /remote/sessions/{id}/ice': 'customer',
  'GET /remote/sessions/{id}/files': 'customer',
  'POST /remote/sessions/{id}/files': 'customer',
  'POST /remote/sessions/{id}/recordings': 'customer',
  'POST /remote/files/{id}/recording': 'customer',
  'POST /remote/files/{id}/refuse': 'customer',
  'GET /remote/files/{id}/file': 'customer',
  'GET /remote/sessions/{id}/messages': 'customer',
  'POST /remote/sessions/{id}/messages': 'customer',
  'GET /remote/sessions/{id}/audit': 'customer',
  'GET /remote/sessions/{id}/changes': 'customer',
  'GET /remote/sessions/{id}/audit/export': 'customer',
  'PUT /remote/joined/{id}/notes': 'support',
  'GET /remote/joined/{id}/customer': 'support',
  'GET /admin/remote-sessions': 'admin',
  'GET /admin/remote-sessions/{id}/audit': 'admin',
  'POST /admin/remote-sessions/{id}/end': 'admin',

  'GET /subscription/current': 'customer',
  'GET /subscription/plans': 'customer',
  'GET /subscription/answer-time': 'customer',
  'GET /subscription/requests': 'customer',
  'POST /subscription/requests': 'customer',
  'DELETE /subscription/requests/{id}': 'customer',
  'GET /premium/anti-hacking/alerts': 'premium',
  'GET /premium/anti-hacking/alerts/{id}': 'customer',
  'POST /premium/anti-hacking/alerts/{id}/acknowledge': 'customer',
  'POST /premium/anti-hacking/alerts/{id}/resolve': 'customer',
  'POST /premium/anti-hacking/alerts/{id}/reopen': 'customer',
  'POST /premium/anti-hacking/alerts/{id}/not-me': 'customer',
  'GET /premium/anti-hacking/suppressions': 'premium',
  'POST /premium/anti-hacking/suppressions/preview': 'premium',
  'DELETE /premium/anti-hacking/suppressions/{id}': 'premium',
  'GET /premium/anti-hacking/monitor': 'premium',
  'GET /premium/anti-hacking/stats': 'premium',
  'GET /premium/anti-hacking/history': 'premium',
  'GET /premium/anti-hacking/live-feed': 'premium',
  'POST /premium/anti-hacking/simulate-threat': 'premium',
  'GET /premium/anti-hacking/scan': 'premium',
  'POST /premium/anti-hacking/scan': 'premium',
  'GET /premium/anti-hacking/blocks': 'customer',
  'DELETE /premium/anti-hacking/blocks/{id}': 'customer',

  'GET /admin/invitations': 'admin',
  'POST /admin/invitations': 'admin',
  'POST /admin/withdraw-invitation': 'admin',
  'POST /admin/change-subscription-template': 'admin',
  'GET /support/person-record': 'support',

  'GET /admin/subscriptions': 'admin',
  'GET /admin/subscription-templates': 'admin',
  'GET /admin/subscription-requests': 'admin',
  'GET /admin/overview': 'admin',
  'GET /admin/home': 'admin',
  'GET /admin/mail-server': 'admin',
  'GET /admin/report': 'admin',
  'GET /admin/users': 'admin',
  'PATCH /admin/users': 'admin',
  'POST /admin/delete-unproven-user': 'admin',
  'POST /admin/delete-user': 'admin',
  'GET /admin/user-sessions': 'admin',
  'POST /admin/end-user-sessions': 'admin',
  'GET /admin/audit': 'admin',
  'GET /admin/audit/chain': 'admin',
  'GET /admin/outbox': 'admin',
  'POST /admin/pass-on-mail': 'admin',
  'GET /admin/proxies': 'admin',
  'DELETE /admin/proxies': 'admin',
  'GET /admin/blocks': 'admin',
  'POST /admin/lift-block': 'admin',
  'GET /admin/quarantine-reports': 'admin',
  'POST /admin/decide-quarantine-report': 'admin',
  'POST /admin/reopen-quarantine-report': 'admin',
  'POST /admin/setup-config': 'admin',
  'POST /admin/check-logo': 'admin',
  'POST /admin/subscription-templates': 'admin',
  'POST /admin/delete-subscription-template': 'admin',
  'POST /admin/assign-subscription': 'admin',
  'POST /admin/cancel-subscription': 'admin',
  'POST /admin/decline-subscription-request': 'admin',
};

/** Calls of a session whose person must set up a second factor, beside public ones. */
const WHILE_HELD = [
  'POST /auth/logout',
  'GET /auth/me',
  'POST /auth/send-email-proof',
  'POST /auth/prove-email',
  'GET /auth/two-factor',
  'POST /auth/two-factor/confirm',
  'POST /auth/two-factor/totp',
  'POST /auth/two-factor/totp/activate',
  'POST /auth/two-factor/passkeys/options',
  'POST /auth/two-factor/passkeys',
];

/** Calls that need a proved address, in public exposure. */
const NEEDS_PROVEN_EMAIL = [
  'POST /auth/two-factor/totp',
  'POST /auth/two-factor/totp/activate',
  'POST /auth/two-factor/passkeys/options',
  'POST /auth/two-factor/passkeys',
  'POST /auth/two-factor/recovery-codes',
  'POST /remote/session',
  'POST /remote/join',
  'POST /subscription/requests',
  'POST /chat/transcript',
  'POST /devices/enrolment-code',
  'POST /household/invites',
  'POST /household/look-at-invite',
  'POST /household/join',
];

const ROLES = ['customer', 'support', 'admin'] as const;
const RANK: Record<Access, number> = { anyone: 0, customer: 1, premium: 1, support: 2, admin: 3 };
/** Refusals for another reason than the role. */
const OTHER_REFUSALS = ['premium_required', 'invalid_credentials', 'confirmation_required', 'device_revoked'];

const endpoints = await allEndpoints();
const byKey = new Map(endpoints.map((endpoint) => [endpoint.key, endpoint]));

/** A new person of each role, and a way to call any endpoint as one of them, with useless values. */
async function startWithRoles(environment: Record<string, string> = {}) {
  const app = await startListeningScanningApp({ environment });
  const tokens = { customer: '', support: '', admin: '' };
  for (const role of ROLES) tokens[role] = (await app.signIn(role, role)).token;

  const ask = async (
    key: string,
    token: string | undefined,
  ): Promise<{ status: number; problem: ProblemDocument | undefined }> => {
    const endpoint = byKey.get(key);
    if (endpoint === undefined) throw new Error(`no endpoint ${key}`);
    const path = endpoint.path.replaceAll(/\{\w+\}/g, '01890a5d-ac96-774b-bcce-b302099a8057');
    const response = await app.fetch(`/api${path}`, {
      method: endpoint.method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(endpoint.hasBody ? { 'content-type': 'application/json' } : {}),
      },
      ...(endpoint.hasBody ? { body: '{}' } : {}),
    });
    const text = await response.text();
    return { status: response.status, problem: response.ok ? undefined : problemSchema.parse(JSON.parse(text)) };
  };
  return { app, tokens, ask };
}

// proves: asvs-8.1.1
describe('the access table', async () => {
  const { app, tokens, ask } = await startWithRoles();

  test('names every endpoint of the contract and nothing else, with the access that the contract declares', () => {
    expect(Object.fromEntries(endpoints.map(({ key, access }) => [key, access]))).toEqual(ACCESS);
  });

  // proves: asvs-6.3.4
  test('names every address that is served', async () => {
    const { paths } = z
      .object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
      .parse(await (await app.fetch(`/api/openapi.json`)).json());
    const served = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/^\/api/, '')}`),
    );
    expect(served.sort()).toEqual(Object.keys(ACCESS).sort());
  });

  // proves: asvs-8.2.1, security-2, support-scale-5
  test.each(Object.entries(ACCESS))('%s needs at least the role %s', async (key, access) => {
    const stranger = await ask(key, undefined);
    if (access !== 'anyone') expect(stranger).toMatchObject({ status: 401, problem: { code: 'unauthenticated' } });
    else expect(stranger.problem?.code).not.toBe('unauthenticated');

    for (const role of ROLES) {
      // Signing out ends the session that the other rows use.
      const token = key === 'POST /auth/logout' ? (await app.signIn(undefined, role)).token : tokens[role];
      const { status, problem } = await ask(key, token);
      if (RANK[role] < RANK[access])
        expect({ role, status, code: problem?.code }).toEqual({ role, status: 403, code: 'forbidden' });
      // Useless values are refused before the plan is read.
      else if (access === 'premium' && status !== 404 && status !== 422)
        expect({ role, status, code: problem?.code }).toEqual({ role, status: 403, code: 'premium_required' });
      else if (status === 401 || status === 403) expect(OTHER_REFUSALS).toContain(problem?.code);
    }
  });
});

// proves: asvs-6.3.3
test('a person without the required second factor calls only its set-up', async () => {
  const { app, tokens, ask } = await startWithRoles({ REQUIRE_TWO_FACTOR: 'everyone' });
  expect(endpoints.flatMap(({ key, while_held }) => (while_held ? key : [])).sort()).toEqual([...WHILE_HELD].sort());
  const answered: string[] = [];
  for (const [key, access] of Object.entries(ACCESS).filter(([, least]) => least !== 'anyone')) {
    for (const role of ROLES) {
      const token = key === 'POST /auth/logout' ? (await app.signIn(undefined, role)).token : tokens[role];
      const { status, problem } = await ask(key, token);
      const expected = RANK[role] < RANK[access] ? 'forbidden' : 'two_factor_setup_required';
      if (problem?.code !== expected) answered.push(key);
      else expect(status).toBe(403);
    }
  }
  expect([...new Set(answered)].sort()).toEqual([...WHILE_HELD].sort());
});

// proves: attack-B.7-1
test('a person with an unproved address calls everything else in public exposure', async () => {
  const { app, tokens, ask } = await startWithRoles({
    ...{ EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' },
  });
  await app.app.database.updateTable('users').set({ email_proven_at: null }).execute();
  const refused: string[] = [];
  for (const [key, access] of Object.entries(ACCESS).filter(([, least]) => least !== 'anyone')) {
    if (key === 'POST /auth/logout') continue;
    const role = RANK[access] === 1 ? 'customer' : access === 'support' ? 'support' : 'admin';
    const { problem } = await ask(key, tokens[role]);
    if (problem?.code === 'email_unproven') refused.push(key);
  }
  expect(refused.sort()).toEqual([...NEEDS_PROVEN_EMAIL].sort());
});

describe('a record', async () => {
  const app = await startListeningScanningApp();
  const sendAs = (token: string, method: string, path: string, body?: object) =>
    app.fetch(`/api${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const asker =
    (token: string): Asker =>
    async (method, path, body) => {
      const response = await sendAs(token, method, path, body);
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
      const reply: unknown = text === '' ? undefined : JSON.parse(text);
      return reply;
    };

  test('is named by no address that is missing here', () => {
    expect(
      endpoints
        .filter(({ path }) => path.includes('{'))
        .map(({ key }) => key)
        .sort(),
    ).toEqual([...Object.keys(RECORDS), ...Object.keys(DESK_RECORDS)].sort());
  });

  // proves: asvs-8.2.2, security-1
  test.each(Object.entries(RECORDS))(
    'of another person, unknown and without an id is not found: %s',
    async (key, { make, body, query = '', form, asked_by }) => {
      const [owner, staff, stranger] = await Promise.all([
        app.signIn(),
        app.signIn(undefined, 'admin'),
        app.signIn(undefined, 'admin'),
      ]);
      const upload = async (content: Buffer) => (await scanned(app, owner.token, 'a file', content)).id;
      const sendFile = async (token: string, to: string) => {
        const content = new FormData();
        content.append('file', new Blob(['words']), 'a.txt');
        const headers = { authorization: `Bearer ${token}` };
        return (await app.fetch(`/api${to}`, { method: 'POST', body: content, headers })).status;
      };
      const parts = { token: owner.token, staff_token: staff.token, upload, sendFile };
      const id = await make(asker(owner.token), asker(staff.token), { ...app, ...parts });
      const [method = '', path = ''] = key.split(' ');
      const statusOf = async (token: string, record: string) => {
        const to = path.replace(/\{\w+\}/, record) + query;
        return form ? await sendFile(token, to) : (await sendAs(token, method, to, body)).status;
      };

      const caller = asked_by === 'staff' ? staff : owner;
      expect(await statusOf(stranger.token, id)).toBe(404);
      expect(await statusOf(caller.token, '01890a5d-ac96-774b-bcce-b302099a8057')).toBe(404);
      for (const noId of [
        '7',
        'x',
        encodeURIComponent("' or 1=1 --"),
        encodeURIComponent('../../admin/outbox'),
        '%00',
        'x'.repeat(150),
      ]) {
        expect(await statusOf(caller.token, noId)).toBe(404);
      }
      expect(await statusOf(caller.token, id)).toBeLessThan(300);
    },
  );
});
