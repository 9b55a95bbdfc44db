// proves: asvs-1.1.1, asvs-1.2.4, asvs-3.5.2, asvs-3.5.3, asvs-6.1.3, asvs-8.3.1, asvs-13.4.5
import type { Access } from '@palisade/contract/endpoint';
import { type ProblemDocument, problemSchema } from '@palisade/contract/problem';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { apiDocument } from './api-document.ts';
import { DESK_RECORDS } from './desk-records.ts';
import { allEndpoints } from './endpoints.ts';
import { startListeningScanningApp, startTestApp } from './harness.ts';
import { type Asker, RECORDS } from './owned-records.ts';
import { scanned } from './upload.ts';

/** The least role for addresses that begin so. */
const BY_ADDRESS: Record<string, Access> = { '/admin/': 'admin', '/support/': 'support' };

/** The access table: the least role for each other endpoint, by its methods below an address. A new one fails here until it stands in it. */
const TABLE: Record<Exclude<Access, 'admin'>, string> = {
  anyone: `
    /config: GET
    /health: GET
    /ready: GET
    /auth: POST login, POST register, POST forgot-password, POST reset-password, POST recover-username, POST accept-invitation
    /auth: POST login/two-factor, POST login/two-factor/passkey, POST login/passkey, POST login/passkey/options
    /agent: POST enrol, POST verify, POST poll, POST signatures, POST leave, POST second-look
    /ask: POST look, POST
    /help: GET articles, GET article
  `,
  customer: `
    /auth: POST logout, POST change-password, GET DELETE two-factor, GET PATCH me, POST send-email-proof, POST prove-email
    /auth: GET audit, POST export, POST delete-account, GET audit/export, GET sessions, POST end-other-sessions
    /auth/two-factor: POST confirm, POST confirm/passkey, POST DELETE totp, POST totp/activate, POST passkeys/options
    /auth/two-factor: POST passkeys, PATCH DELETE passkeys/{id}, POST recovery-codes
    /auth/sessions: POST {id}/end
    /dashboard: GET status
    /antivirus: GET scans, GET scan-counts, POST scan, PUT infections, DELETE uploads/{key}, GET engine
    /antivirus/scans: GET DELETE {id}, GET DELETE {id}/file, POST {id}/password, POST {id}/report
    /firewall: GET POST rules, PUT PATCH DELETE rules/{id}, POST rules/change, POST import, GET revisions
    /firewall: POST revisions/{id}/undo
    /devices: GET POST wishes, POST wishes/withdraw, GET, GET PATCH DELETE {id}, POST enrolment-code, POST {id}/revoke
    /devices: POST {id}/confirm, GET counters, GET blocked, GET POST {id}/scans, GET findings
    /remote/sessions: POST {id}/grants, POST {id}/revoke, POST {id}/cancel, POST {id}/complete, GET {id}, POST {id}/approve
    /remote/sessions: POST {id}/decline, POST {id}/reaffirm, POST {id}/report, POST {id}/rating, GET {id}/ice
    /remote/sessions: GET POST {id}/files, POST {id}/recordings, GET POST {id}/messages, GET {id}/audit, GET {id}/changes
    /remote/sessions: GET {id}/audit/export
    /devices/scans: POST {id}/steer
    /devices/findings: POST {id}/order, POST DELETE {id}/second-look
    /push: GET, POST subscriptions, DELETE subscriptions/{id}, POST unsubscribe
    /scam-check: POST, GET checks, DELETE checks/{id}, GET POST trusted, DELETE trusted/{id}
    /web-protection: GET, POST devices, PUT agents/{id}, PUT policy, POST pause, POST names, DELETE names/{id}, GET refused
    /web-protection: GET check
    /web-protection/devices: DELETE {id}, POST {id}/renew-key, POST {id}/show-names, GET {id}/names
    /household: GET, PUT time-zone, POST profiles, DELETE names/{id}, POST asks/{id}/answer, POST invites, DELETE invites/{id}
    /household: POST look-at-invite, POST join, POST leave
    /household/profiles: PATCH DELETE {id}, POST {id}/pause, POST {id}/renew-key, POST {id}/names, POST {id}/try
    /household/devices: PUT {id}
    /chat: GET POST messages, GET, POST read, POST person, POST rating, POST share, POST attachments
    /chat: GET DELETE attachments/{id}, GET attachments/{id}/file, GET POST transcript
    /help: GET suggestions
    /remote: GET sessions, POST session, POST files/{id}/recording, POST files/{id}/refuse, GET files/{id}/file
    /subscription: GET current, GET plans, GET answer-time, GET POST requests, DELETE requests/{id}
    /premium/anti-hacking: GET alerts/{id}, POST alerts/{id}/acknowledge, POST alerts/{id}/resolve, POST alerts/{id}/reopen
    /premium/anti-hacking: POST alerts/{id}/not-me, GET blocks, DELETE blocks/{id}
  `,
  premium: `
    /premium/anti-hacking: GET alerts, GET suppressions, POST suppressions/preview, DELETE suppressions/{id}, GET monitor
    /premium/anti-hacking: GET stats, GET history, GET live-feed, POST simulate-threat, GET POST scan
  `,
  support: `
    /remote: GET joined, POST join
    /remote/joined: POST {id}/complete, PUT {id}/notes, GET {id}/customer
  `,
};
const LEVELS = ['anyone', 'customer', 'premium', 'support'] as const;
const endpoints = await allEndpoints();
const byKey = new Map(endpoints.map((endpoint) => [endpoint.key, endpoint]));
const ACCESS: Record<string, Access> = Object.fromEntries([
  ...LEVELS.flatMap((access) => keysOf(TABLE[access]).map((key): [string, Access] => [key, access])),
  ...Object.entries(BY_ADDRESS).flatMap(([start, access]) =>
    endpoints.flatMap(({ path, key }): [string, Access][] => (path.startsWith(start) ? [[key, access]] : [])),
  ),
]);

/** `/auth: GET PATCH me` is `GET /auth/me` and `PATCH /auth/me`. */
function keysOf(text: string): string[] {
  return text
    .trim()
    .split(/\n\s*/)
    .flatMap((line) => {
      const [prefix = '', endpoints = ''] = line.split(': ');
      return endpoints.split(', ').flatMap((endpoint) => {
        const [, methods = '', rest = ''] = /^([A-Z]+(?: [A-Z]+)*) ?(.*)$/.exec(endpoint) ?? [];
        return methods.split(' ').map((method) => `${method} ${prefix}${rest === '' ? '' : `/${rest}`}`);
      });
    });
}

/** Calls of a session whose person must set up a second factor, beside public ones. */
const WHILE_HELD = keysOf(`
  /auth: POST logout, GET me, POST send-email-proof, POST prove-email, GET two-factor
  /auth/two-factor: POST confirm, POST totp, POST totp/activate, POST passkeys/options, POST passkeys
`);

/** Calls that need a proved address, in public exposure. */
const NEEDS_PROVEN_EMAIL = keysOf(`
  /auth/two-factor: POST totp, POST totp/activate, POST passkeys/options, POST passkeys, POST recovery-codes
  /remote: POST session, POST join
  /subscription: POST requests
  /chat: POST transcript
  /devices: POST enrolment-code
  /household: POST invites, POST look-at-invite, POST join
`);

const ROLES = ['customer', 'support', 'admin'] as const;
const RANK: Record<Access, number> = { anyone: 0, customer: 1, premium: 1, support: 2, admin: 3 };
/** Refusals for another reason than the role. */
const OTHER_REFUSALS = ['premium_required', 'invalid_credentials', 'confirmation_required', 'device_revoked'];

/** A new person of each role, and a way to call any endpoint as one of them, with useless values. */
async function startWithRoles(environment: Record<string, string> = {}) {
  const app = await startTestApp({ environment });
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
      .parse(JSON.parse(await apiDocument()));
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

const NO_IDS = ['7', 'x', encodeURIComponent("' or 1=1 --"), encodeURIComponent('../../admin/outbox'), '%00', 'x'.repeat(150)];

describe('a record', async () => {
  const app = await startListeningScanningApp();
  const stranger = await app.signIn(undefined, 'admin');
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
    const named = endpoints.flatMap(({ path, key }) => (path.includes('{') ? key : []));
    expect(named.sort()).toEqual([...Object.keys(RECORDS), ...Object.keys(DESK_RECORDS)].sort());
  });

  // proves: asvs-8.2.2, security-1
  test.each(Object.entries(RECORDS))(
    'of another person, unknown and without an id is not found: %s',
    async (key, { make, body, query = '', form, asked_by }) => {
      const [owner, staff] = await Promise.all([app.signIn(), app.signIn(undefined, 'admin')]);
      const upload = async (content: Buffer) => (await scanned(app, owner.token, 'a file', content)).id;
      const sendFile = async (token: string, to: string) => {
        const content = new FormData();
        content.append('file', new Blob(['words']), 'a.txt');
        const headers = { authorization: `Bearer ${token}` };
        return (await app.fetch(`/api${to}`, { method: 'POST', body: content, headers })).status;
      };
      const parts = { user_id: owner.id, token: owner.token, staff_token: staff.token, upload, sendFile };
      const id = await make(asker(owner.token), asker(staff.token), { ...app, ...parts });
      const [method = '', path = ''] = key.split(' ');
      const statusOf = async (token: string, record: string) => {
        const to = path.replace(/\{\w+\}/, record) + query;
        return form ? await sendFile(token, to) : (await sendAs(token, method, to, body)).status;
      };

      const caller = asked_by === 'staff' ? staff : owner;
      expect(await statusOf(stranger.token, id)).toBe(404);
      expect(await statusOf(caller.token, '01890a5d-ac96-774b-bcce-b302099a8057')).toBe(404);
      for (const no_id of NO_IDS) expect(await statusOf(caller.token, no_id)).toBe(404);
      expect(await statusOf(caller.token, id)).toBeLessThan(300);
    },
  );
});
