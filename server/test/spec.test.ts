// proves: asvs-2.2.1
import { problemSchema } from '@palisade/contract/problem';
import { EICAR } from '@palisade/scanner/test/files';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startTestApp } from './harness.ts';

// The specification's endpoints, row by row, called by a client that knows the specification but not the contract.

type Role = 'anyone' | 'customer' | 'premium' | 'admin';
type Json = Record<string, unknown>;

interface Row {
  method: string;
  path: string;
  role: Role;
  status: number;
  /** Required fields of the answer. */
  answer: object | undefined;
  /** A right body; made anew for each use, because some may be used once. */
  body: (() => Json | Promise<Json>) | undefined;
  /** Fields of the body that may be left out, because the specification gives their default. */
  optional: readonly string[] | undefined;
}

const text: unknown = expect.any(String);
const number: unknown = expect.any(Number);
const truth: unknown = expect.any(Boolean);
const list: unknown = expect.any(Array);
const PASSWORD = 'a long enough password';
const app = await startTestApp({ surroundings: { random: () => 0 } });

const admin = await app.signIn('admin', 'admin');
const customer = await app.signIn('customer');
const premium = await app.signIn('premium');
/** Resets the password, which ends sessions; no other person here does. */
const forgetful = await app.signIn('forgetful');
const tokens: Record<Role, string | undefined> = {
  anyone: undefined,
  customer: customer.token,
  premium: premium.token,
  admin: admin.token,
};

function send(method: string, path: string, role: Role, body?: unknown): Promise<Response> {
  const token = tokens[role];
  return app.fetch(`/api${path}`, {
    method,
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

async function answerOf(response: Promise<Response>): Promise<unknown> {
  return JSON.parse(await (await response).text());
}

let people = 0;
const newPerson = () => {
  people += 1;
  return { email: `person-${people}@example.com`, username: `person-${people}`, password: PASSWORD };
};
const resetToken = async () => {
  const answer = await answerOf(send('POST', '/auth/forgot-password', 'anyone', { email: forgetful.email }));
  return z.object({ reset_token: z.string() }).parse(answer).reset_token;
};
const features = ['Anti-hacking monitor', 'Five devices'];
const terms = { plan_name: 'Family Shield', price: 19.99, duration_months: 12, max_devices: 5, is_premium: true, features };
const assignment = () => ({ ...terms, user_email: premium.email });
const ends = { source_ip: '192.168.1.0/24, 10.0.0.1', destination_ip: '*', port: '80,443,8000-8100' };
const rule = () => ({ ...ends, rule_name: 'Web', direction: 'inbound', action: 'allow', protocol: 'tcp' });
const offered = { base_price: 9.5, duration_months: 12, max_devices: 3, is_premium: false, features: ['One'] };
let templates = 0;
const template = () => {
  templates += 1;
  return { ...offered, template_name: `Plan ${templates}` };
};
const client_info = { company_name: 'Nordlys', support_phone: '+1 800 555 0199', support_email: 'help@example.com' };
const setup = () => ({ client_info, setup_type: 'basic_installation', timestamp: '2026-11-20T10:00:00.000Z' });

await send('POST', '/admin/assign-subscription', 'admin', assignment());
await send('POST', '/admin/subscription-templates', 'admin', template());
await send('POST', '/chat/messages', 'customer', { message: 'hello', sender: 'user' });
await send('POST', '/remote/session', 'customer');
await send('POST', '/premium/anti-hacking/simulate-threat', 'premium');

const scan = { id: text, filename: text, scan_status: text, scanned_at: text, threat_detected: null, file_hash: text };
const session = { id: text, session_code: text, status: 'pending', started_at: text, ended_at: null, support_agent: null };
const message = { id: text, user_id: text, message: 'hello', sender: 'user', timestamp: text, is_read: truth };
const what = { id: text, threat_type: text, severity: text, description: text };
const alert = { ...what, created_at: text, blocked: truth, simulated: true };
const blocked = { threats_blocked_today: number, threats_blocked_total: number };
const stats = { ...blocked, intrusion_attempts_stopped: number, brute_force_attempts_blocked: number };
const plan = { plan_name: 'Family Shield', price: 19.99, currency: 'USD', is_premium: true, expires_at: text };
const subscription = { ...plan, has_subscription: true, features };
const dashboard = { security_score: number, last_scan: 'Never', subscription, recent_scans: [], devices: null };
const assigned = {
  ...plan,
  id: text,
  user_email: premium.email,
  user_username: 'premium',
  duration_months: 12,
  status: 'active',
};
const posture = { threats_detected: number, threats_blocked: number, vulnerabilities_found: list, recommendations: list };
const who = { id: text, username: 'admin', email: admin.email, role: 'admin' };
const enabled = { id: text, enabled: true, created_at: text, expires_at: null, device_ids: [] };
const reset = async () => ({ reset_token: await resetToken(), new_password: PASSWORD });
const RULE_DEFAULTS = ['direction', 'action', 'protocol', 'source_ip', 'destination_ip', 'port'];

const row = (endpoint: string, role: Role, status: number, answer?: object, body?: Row['body'], optional?: string[]): Row => {
  const [method = '', path = ''] = endpoint.split(' ');
  return { method, path, role, status, answer, body, optional };
};
const ROWS: readonly Row[] = [
  row('POST /auth/login', 'anyone', 200, { access_token: text, user_info: who }, () => ({
    email: admin.email,
    password: PASSWORD,
  })),
  row('POST /auth/register', 'anyone', 201, { id: text }, newPerson),
  row('POST /auth/forgot-password', 'anyone', 200, { reset_token: text, expires_in: 900 }, () => ({ email: forgetful.email })),
  row('POST /auth/reset-password', 'anyone', 200, undefined, reset),
  row('POST /auth/recover-username', 'anyone', 200, { username: 'premium' }, () => ({ email: premium.email })),
  row('GET /dashboard/status', 'premium', 200, dashboard),
  row('GET /antivirus/scans', 'premium', 200, []),
  row('GET /firewall/rules', 'premium', 200, []),
  row('POST /firewall/rules', 'customer', 201, { ...rule(), ...enabled }, rule, RULE_DEFAULTS),
  row('GET /chat/messages', 'premium', 200, []),
  row('POST /chat/messages', 'premium', 201, message, () => ({ message: 'hello', sender: 'user' })),
  row('GET /remote/sessions', 'premium', 200, []),
  row('POST /remote/session', 'premium', 201, session),
  row('POST /admin/setup-config', 'admin', 200, { success: true }, setup),
  row('GET /admin/subscriptions', 'admin', 200, [assigned]),
  row('GET /admin/subscription-templates', 'admin', 200, [{ ...offered, id: text, template_name: 'Plan 1' }]),
  row('POST /admin/assign-subscription', 'admin', 200, { success: true }, assignment),
  row('POST /admin/subscription-templates', 'admin', 200, { success: true }, template),
  row('GET /subscription/current', 'premium', 200, { is_premium: true }),
  row('GET /premium/anti-hacking/alerts', 'premium', 200, [alert]),
  row('GET /premium/anti-hacking/stats', 'premium', 200, stats),
  row('GET /premium/anti-hacking/live-feed', 'premium', 200, { live_threats: list, current_stats: stats }),
  row('POST /premium/anti-hacking/simulate-threat', 'premium', 200, { success: true, threat_detected: alert }),
  row('POST /premium/anti-hacking/scan', 'premium', 200, { ...posture, status: text }),
];

const LONG = 'x'.repeat(20_000);
const HUGE = 'x'.repeat(1_000_000);
/** A password or a token that is too long to be right is wrong, at any length. */
const WRONG_NOT_INVALID = ['/auth/login password', '/auth/reset-password reset_token'];

/** Paths of all fields below a body: `client_info.company_name`. */
function fieldsOf(body: Json, prefix = ''): string[] {
  return Object.entries(body).flatMap(([name, value]) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? fieldsOf(z.record(z.string(), z.unknown()).parse(value), `${prefix}${name}.`)
      : [`${prefix}${name}`],
  );
}

/** The body with one field changed; `undefined` leaves it out. */
function changed(body: Json, field: string, value: unknown): Json {
  const [name = '', ...rest] = field.split('.');
  if (rest.length === 0) return { ...body, [name]: value };
  return { ...body, [name]: changed(z.record(z.string(), z.unknown()).parse(body[name]), rest.join('.'), value) };
}

const WITH_BODY = ROWS.flatMap((row) => (row.body === undefined ? [] : [{ ...row, body: row.body }]));

describe('the specification', () => {
  test.each(ROWS)('$method $path answers as the specification says', async ({ method, path, role, body, status, answer }) => {
    const response = await send(method, path, role, await body?.());
    const reply = await response.text();
    expect(response.status, reply).toBe(status);
    if (answer !== undefined) expect(JSON.parse(reply)).toMatchObject(answer);
  });

  test.each(WITH_BODY)('$method $path is 400 for invalid JSON, 422 for JSON of another shape', async ({ method, path, role }) => {
    expect((await send(method, path, role, '{"half":')).status).toBe(400);
    for (const shape of ['[]', '"text"', 'null', '7']) expect((await send(method, path, role, shape)).status).toBe(422);
  });

  test.each(WITH_BODY)(
    '$method $path names each field that is missing, of a wrong type, or too long',
    async ({ method, path, role, body, optional = [] }) => {
      const right = await body();
      for (const field of fieldsOf(right)) {
        for (const [kind, value] of [
          ['missing', undefined],
          ['wrong type', { nested: true }],
          ['too long', LONG],
        ] as const) {
          if (kind === 'missing' && optional.includes(field)) continue;
          const response = await send(method, path, role, changed(right, field, value));
          if (kind === 'too long' && WRONG_NOT_INVALID.includes(`${path} ${field}`)) {
            expect([401, 422]).toContain(response.status);
            continue;
          }
          const problem = problemSchema.parse(await response.json());
          expect({ field, kind, status: problem.status }).toEqual({ field, kind, status: 422 });
          expect(problem.errors?.map((error) => error.field)).toContain(field);
        }
        const huge = await send(method, path, role, changed(right, field, HUGE));
        expect([413, 422]).toContain(huge.status);
      }
    },
  );

  test.each(WITH_BODY)(
    '$method $path ignores fields that it does not know, and never echoes them',
    async ({ method, path, role, body, status }) => {
      const response = await send(method, path, role, { ...(await body()), unknown_field: 'echo-me', role: 'admin', id: 'mine' });
      expect(response.status).toBe(status);
      expect(await response.text()).not.toContain('echo-me');
    },
  );
});

describe('the specification: POST /antivirus/scan', () => {
  const upload = async (role: Role) => {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(EICAR)]), 'eicar.com');
    const token = tokens[role];
    return await app.fetch(`/api/antivirus/scan`, {
      method: 'POST',
      body: form,
      headers: token ? { authorization: `Bearer ${token}` } : {},
    });
  };

  test('answers the scan record', async () => {
    const response = await upload('customer');
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ ...scan, scan_status: 'infected', threat_detected: 'EICAR-Test-File' });
  });
});

describe('typed values', () => {
  const HOSTILE = `Robert'); DROP TABLE users;-- <script>alert("1")</script> {{7*7}} \${7*7} 💥 =cmd|' /C calc'!A0`;

  test('is stored and answered verbatim, as text', async () => {
    await send('POST', '/chat/messages', 'customer', { message: HOSTILE, sender: 'user' });
    const messages = z
      .array(z.object({ message: z.string(), is_automatic: z.boolean() }))
      .parse(await answerOf(send('GET', '/chat/messages', 'customer')));
    expect(messages.flatMap(({ message, is_automatic }) => (is_automatic ? [] : [message]))).toEqual([HOSTILE, 'hello']);
    await send('POST', '/admin/subscription-templates', 'admin', { ...template(), template_name: HOSTILE, features: [HOSTILE] });
    expect(await answerOf(send('GET', '/admin/subscription-templates?limit=1', 'admin'))).toMatchObject([
      { template_name: HOSTILE, features: [HOSTILE] },
    ]);
  });

  test.each([
    ['price as text', { price: '19.99' }],
    ['negative price', { price: -1 }],
    ['three decimals', { price: 1.005 }],
    ['duration 7', { duration_months: 7 }],
    ['duration as text', { duration_months: '12' }],
    ['max_devices 0', { max_devices: 0 }],
    ['is_premium as text', { is_premium: 'true' }],
    ['blank feature', { features: ['  '] }],
  ])('is 422 in an assignment with %s', async (_, change) => {
    expect((await send('POST', '/admin/assign-subscription', 'admin', { ...assignment(), ...change })).status).toBe(422);
  });

  // proves: asvs-1.4.2
  test('is 422 for a price of 1e309', async () => {
    const body = JSON.stringify(assignment()).replace('19.99', '1e309');
    expect((await send('POST', '/admin/assign-subscription', 'admin', body)).status).toBe(422);
  });
});
