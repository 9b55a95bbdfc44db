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
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  role: Role;
  /** A right body; made anew for each use, because some may be used once. */
  body?: () => Json | Promise<Json>;
  status: number;
  /** Required fields of the answer. */
  answer?: object;
  /** Fields of the body that may be left out, because the specification gives their default. */
  optional?: readonly string[];
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
const assignment = () => ({
  user_email: premium.email,
  plan_name: 'Family Shield',
  price: 19.99,
  duration_months: 12,
  max_devices: 5,
  is_premium: true,
  features: ['Anti-hacking monitor', 'Five devices'],
});
const rule = () => ({
  rule_name: 'Web',
  direction: 'inbound',
  action: 'allow',
  protocol: 'tcp',
  source_ip: '192.168.1.0/24, 10.0.0.1',
  destination_ip: '*',
  port: '80,443,8000-8100',
});
let templates = 0;
const template = () => {
  templates += 1;
  return {
    template_name: `Plan ${templates}`,
    base_price: 9.5,
    duration_months: 12,
    max_devices: 3,
    is_premium: false,
    features: ['One'],
  };
};

await send('POST', '/admin/assign-subscription', 'admin', assignment());
await send('POST', '/admin/subscription-templates', 'admin', template());
await send('POST', '/chat/messages', 'customer', { message: 'hello', sender: 'user' });
await send('POST', '/remote/session', 'customer');
await send('POST', '/premium/anti-hacking/simulate-threat', 'premium');

const scan = { id: text, filename: text, scan_status: text, scanned_at: text, threat_detected: null, file_hash: text };
const session = { id: text, session_code: text, status: 'pending', started_at: text, ended_at: null, support_agent: null };
const message = { id: text, user_id: text, message: 'hello', sender: 'user', timestamp: text, is_read: truth };
const alert = {
  id: text,
  threat_type: text,
  severity: text,
  description: text,
  created_at: text,
  blocked: truth,
  simulated: true,
};
const stats = {
  threats_blocked_today: number,
  intrusion_attempts_stopped: number,
  brute_force_attempts_blocked: number,
  threats_blocked_total: number,
};

const ROWS: readonly Row[] = [
  {
    method: 'POST',
    path: '/auth/login',
    role: 'anyone',
    body: () => ({ email: admin.email, password: PASSWORD }),
    status: 200,
    answer: { access_token: text, user_info: { id: text, username: 'admin', email: admin.email, role: 'admin' } },
  },
  { method: 'POST', path: '/auth/register', role: 'anyone', body: newPerson, status: 201, answer: { id: text } },
  {
    method: 'POST',
    path: '/auth/forgot-password',
    role: 'anyone',
    body: () => ({ email: forgetful.email }),
    status: 200,
    answer: { reset_token: text, expires_in: 900 },
  },
  {
    method: 'POST',
    path: '/auth/reset-password',
    role: 'anyone',
    body: async () => ({ reset_token: await resetToken(), new_password: PASSWORD }),
    status: 200,
  },
  {
    method: 'POST',
    path: '/auth/recover-username',
    role: 'anyone',
    body: () => ({ email: premium.email }),
    status: 200,
    answer: { username: 'premium' },
  },
  {
    method: 'GET',
    path: '/dashboard/status',
    role: 'premium',
    status: 200,
    answer: {
      security_score: number,
      last_scan: 'Never',
      subscription: {
        has_subscription: true,
        plan_name: 'Family Shield',
        is_premium: true,
        expires_at: text,
        price: 19.99,
        currency: 'USD',
        features: ['Anti-hacking monitor', 'Five devices'],
      },
      recent_scans: [],
      devices: null,
    },
  },
  { method: 'GET', path: '/antivirus/scans', role: 'premium', status: 200, answer: [] },
  { method: 'GET', path: '/firewall/rules', role: 'premium', status: 200, answer: [] },
  {
    method: 'POST',
    path: '/firewall/rules',
    role: 'customer',
    body: rule,
    optional: ['direction', 'action', 'protocol', 'source_ip', 'destination_ip', 'port'],
    status: 201,
    answer: { ...rule(), id: text, enabled: true, created_at: text, expires_at: null, device_ids: [] },
  },
  { method: 'GET', path: '/chat/messages', role: 'premium', status: 200, answer: [] },
  {
    method: 'POST',
    path: '/chat/messages',
    role: 'premium',
    body: () => ({ message: 'hello', sender: 'user' }),
    status: 201,
    answer: message,
  },
  { method: 'GET', path: '/remote/sessions', role: 'premium', status: 200, answer: [] },
  { method: 'POST', path: '/remote/session', role: 'premium', status: 201, answer: session },
  {
    method: 'POST',
    path: '/admin/setup-config',
    role: 'admin',
    body: () => ({
      client_info: { company_name: 'Nordlys', support_phone: '+1 800 555 0199', support_email: 'help@example.com' },
      setup_type: 'basic_installation',
      timestamp: '2026-11-20T10:00:00.000Z',
    }),
    status: 200,
    answer: { success: true },
  },
  {
    method: 'GET',
    path: '/admin/subscriptions',
    role: 'admin',
    status: 200,
    answer: [
      {
        id: text,
        user_email: premium.email,
        user_username: 'premium',
        plan_name: 'Family Shield',
        price: 19.99,
        currency: 'USD',
        duration_months: 12,
        is_premium: true,
        status: 'active',
        expires_at: text,
      },
    ],
  },
  {
    method: 'GET',
    path: '/admin/subscription-templates',
    role: 'admin',
    status: 200,
    answer: [
      {
        id: text,
        template_name: 'Plan 1',
        base_price: 9.5,
        duration_months: 12,
        max_devices: 3,
        is_premium: false,
        features: ['One'],
      },
    ],
  },
  { method: 'POST', path: '/admin/assign-subscription', role: 'admin', body: assignment, status: 200, answer: { success: true } },
  {
    method: 'POST',
    path: '/admin/subscription-templates',
    role: 'admin',
    body: template,
    status: 200,
    answer: { success: true },
  },
  { method: 'GET', path: '/subscription/current', role: 'premium', status: 200, answer: { is_premium: true } },
  { method: 'GET', path: '/premium/anti-hacking/alerts', role: 'premium', status: 200, answer: [alert] },
  { method: 'GET', path: '/premium/anti-hacking/stats', role: 'premium', status: 200, answer: stats },
  {
    method: 'GET',
    path: '/premium/anti-hacking/live-feed',
    role: 'premium',
    status: 200,
    answer: { live_threats: list, current_stats: stats },
  },
  {
    method: 'POST',
    path: '/premium/anti-hacking/simulate-threat',
    role: 'premium',
    status: 200,
    answer: { success: true, threat_detected: alert },
  },
  {
    method: 'POST',
    path: '/premium/anti-hacking/scan',
    role: 'premium',
    status: 200,
    answer: {
      threats_detected: number,
      threats_blocked: number,
      status: text,
      vulnerabilities_found: list,
      recommendations: list,
    },
  },
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

describe('the specification: /firewall/rules/{id}', () => {
  test('PUT answers the changed rule, DELETE removes it, a second DELETE is 404', async () => {
    const { id } = z.object({ id: z.string() }).parse(await answerOf(send('POST', '/firewall/rules', 'customer', rule())));
    const path = `/firewall/rules/${id}`;
    expect(await answerOf(send('PUT', path, 'customer', { enabled: false }))).toMatchObject({ ...rule(), id, enabled: false });
    for (const body of [{}, { enabled: 'true' }, { enabled: 1 }]) {
      expect((await send('PUT', path, 'customer', body)).status).toBe(422);
    }
    expect((await send('PUT', path, 'anyone', { enabled: true })).status).toBe(401);
    expect((await send('PUT', path, 'premium', { enabled: true })).status).toBe(404);
    expect((await send('DELETE', path, 'anyone')).status).toBe(401);
    expect((await send('DELETE', path, 'premium')).status).toBe(404);
    expect((await send('DELETE', path, 'customer')).status).toBe(204);
    expect((await send('DELETE', path, 'customer')).status).toBe(404);
  });
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

  test('is 404 for an unknown email, in words', async () => {
    const response = await send('POST', '/admin/assign-subscription', 'admin', {
      ...assignment(),
      user_email: 'nobody@example.com',
    });
    const { status, detail } = problemSchema.parse(await response.json());
    expect(status).toBe(404);
    expect(detail).toContain('nobody@example.com');
  });

  // proves: asvs-7.4.2
  test('by a deleted account is 401', async () => {
    const gone = await app.signIn('gone');
    await app.app.database.deleteFrom('users').where('email', '=', gone.email).execute();
    const response = await app.fetch(`/api/auth/me`, { headers: { authorization: `Bearer ${gone.token}` } });
    expect(response.status).toBe(401);
  });
});
