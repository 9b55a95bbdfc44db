import { createECDH } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { passkeyCreationSchema } from '@palisade/contract/two-factor';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR } from '@palisade/scanner/test/files';
import { PACKED_EICAR } from '@palisade/scanner/test/packed-eicar';
import { expect } from 'vitest';
import { z } from 'zod';
import { keyFingerprint } from '#features/devices/device-record.ts';
import { newKey as newWebKey } from '#features/web-protection/web-devices.ts';
import { newId } from '#platform/id.ts';
import type { Tables } from '#platform/tables.ts';
import type { App } from '#server/app.ts';
import { computer, helloOf, newKey } from './agent-double.ts';
import { Authenticator } from './authenticator.ts';
import { givePremium } from './feature-database.ts';
import { foundClean, grantInBrowsers } from './granted-session.ts';
import { insertRow, type RowOf } from './rows.ts';
import { newUploadKey, openUpload } from './upload.ts';

const idSchema = z.object({ id: z.string() });
const KEY = newKey();

/** The id of what a call makes. */
const made = async (as: Asker, path: string, body?: object) => idSchema.parse(await as('POST', path, body)).id;
/** The id of the first record of a list. */
const firstOf = async (as: Asker, path: string) =>
  z
    .array(idSchema)
    .min(1)
    .parse(await as('GET', path))[0]?.id ?? '';

const AT = '2026-11-20T10:00:00.000Z';
const NEVER = '2090-01-01T00:00:00.000Z';

/** A way to own a row that is written straight into the database. */
const row =
  <T extends keyof Tables & string>(table: T, rowOf: (own: { id: string; user_id: string }) => RowOf<Tables, T>): Make =>
  async (_owner, _staff, { app, user_id }) => {
    const id = newId();
    await insertRow(app.database, table, rowOf({ id, user_id }));
    return id;
  };

const makeWebDevice = row('web_devices', (own) => {
  const device = { name: 'Phone', kind: 'android', key: newWebKey(), address: null } as const;
  return { ...own, ...device, created_at: AT, last_question_at: null };
});

const alertOf = ({ id, user_id }: { id: string; user_id: string }) => {
  const kind = { threat_type: 'suspicious_login', severity: 'low', description: 'Tried.', rule: 'test' } as const;
  const count = { created_at: AT, last_seen: AT, last_id: id, count: 1, simulated: 0, dedupe_key: id, session_ids: '[]' };
  const evidence = '{"threshold":"One.","events":[]}';
  return { ...kind, ...count, id, user_id, outcome: 'unknown', status: 'open', evidence } as const;
};
const makeAlert = row('alerts', alertOf);
const RESOLVED = { status: 'resolved', resolved_reason: 'test' } as const;

/**
 * Every address that names a record: a way to own one, and a right body. `make` asks as the owner; `staff` asks as an administrator.
 */
export const RECORDS: Record<
  string,
  {
    make: Make;
    body?: object;
    query?: string;
    /** It takes a file. */
    form?: true;
    asked_by?: 'staff';
  }
> = {
  'DELETE /antivirus/uploads/{key}': {
    make: async (_owner, _staff, { url, data_dir, token }) => {
      const key = newUploadKey();
      await openUpload({ url }, token, { key }).write(Buffer.alloc(128 * 1024));
      await eventually(() => expect(readdirSync(join(data_dir, 'spool'))).toHaveLength(1));
      return key;
    },
  },
  'GET /antivirus/scans/{id}': { make: makeScan },
  'DELETE /antivirus/scans/{id}': { make: makeScan },
  'GET /antivirus/scans/{id}/file': { make: makeScan },
  'DELETE /antivirus/scans/{id}/file': { make: makeScan },
  'POST /antivirus/scans/{id}/password': {
    make: (_owner, _staff, { upload }) => upload(PACKED_EICAR.get('zip, aes') ?? EICAR),
    body: { password: 'palisade' },
  },
  'POST /antivirus/scans/{id}/report': { make: makeScan, body: { reason: 'I wrote it myself.' } },
  'PUT /firewall/rules/{id}': { make: makeRule, body: { enabled: false } },
  'GET /devices/{id}': { make: makeDevice },
  'PATCH /devices/{id}': { make: makeDevice, body: { device_name: 'Other' } },
  'POST /devices/{id}/revoke': { make: makeDevice },
  'POST /devices/{id}/confirm': { make: makeDevice, body: { fingerprint: keyFingerprint(KEY) } },
  'DELETE /devices/{id}': { make: makeDevice },
  'GET /devices/{id}/scans': { make: makeDevice },
  'POST /devices/{id}/scans': { make: makeDevice, body: { scan: 'quick' } },
  'POST /devices/scans/{id}/steer': {
    body: { wanted: 'pause' },
    make: async (owner, staff, app) => {
      const id = await makeDevice(owner, staff, app);
      return await made(owner, `/devices/${id}/scans`, { scan: 'quick' });
    },
  },
  'POST /devices/findings/{id}/order': { make: makeFinding, body: { action: 'delete' } },
  'POST /devices/findings/{id}/second-look': { make: makeFinding, body: { agreed: true } },
  'DELETE /devices/findings/{id}/second-look': { make: makeAskedFinding },
  'PATCH /firewall/rules/{id}': { make: makeRule, body: { rule_name: 'Other' } },
  'DELETE /firewall/rules/{id}': { make: makeRule },
  'POST /firewall/revisions/{id}/undo': {
    make: async (owner) => {
      await makeRule(owner);
      return await firstOf(owner, '/firewall/revisions');
    },
  },
  'POST /auth/sessions/{id}/end': {
    body: { password: 'a long enough password' },
    make: (owner) => firstOf(owner, '/auth/sessions'),
  },
  'PATCH /auth/two-factor/passkeys/{id}': { make: makePasskey, body: { name: 'Key' } },
  'DELETE /auth/two-factor/passkeys/{id}': {
    make: async (owner, staff, app) => {
      // The last one cannot be removed alone.
      await makePasskey(owner, staff, app);
      return await makePasskey(owner, staff, app);
    },
  },
  'POST /remote/sessions/{id}/cancel': { make: makeSession },
  'POST /remote/sessions/{id}/complete': { make: makeRunning },
  'POST /remote/joined/{id}/complete': { asked_by: 'staff', make: makeRunning },
  'GET /remote/sessions/{id}': { make: makeSession },
  'POST /remote/sessions/{id}/approve': { make: makeClaimed, body: { view: 'talk' } },
  'POST /remote/sessions/{id}/decline': { make: makeClaimed },
  'POST /remote/sessions/{id}/reaffirm': { make: makeRunning },
  'POST /remote/sessions/{id}/report': { make: makeClaimed, body: { reason: 'else' } },
  'POST /remote/sessions/{id}/rating': {
    body: { rating: 5 },
    make: async (owner, staff) => {
      const id = await makeRunning(owner, staff);
      await owner('POST', `/remote/sessions/${id}/complete`);
      return id;
    },
  },
  'GET /remote/sessions/{id}/ice': { make: makeRunning },
  'POST /remote/sessions/{id}/grants': { make: makeGranted, body: { grant: 'files', device_id: null } },
  'POST /remote/sessions/{id}/revoke': { make: makeGranted, body: { grant: 'all' } },
  'GET /remote/sessions/{id}/files': { make: makeClaimed },
  'POST /remote/sessions/{id}/files': { make: makeGranted, form: true },
  'POST /remote/sessions/{id}/recordings': { asked_by: 'staff', make: makeGranted },
  'POST /remote/files/{id}/recording': { asked_by: 'staff', make: makeRecording, form: true },
  'POST /remote/files/{id}/refuse': { make: makeRecording },
  'GET /remote/files/{id}/file': {
    make: async (owner, staff, app) => {
      const id = await makeRecording(owner, staff, app);
      await app.sendFile(app.staff_token, `/remote/files/${id}/recording`);
      await foundClean(app, id);
      return id;
    },
  },
  'GET /remote/sessions/{id}/messages': { make: makeClaimed },
  'POST /remote/sessions/{id}/messages': { make: makeClaimed, body: { message: 'Hello' } },
  'GET /remote/sessions/{id}/audit': { make: makeClaimed },
  'GET /remote/sessions/{id}/changes': { make: makeClaimed },
  'GET /remote/sessions/{id}/audit/export': { make: makeClaimed, query: '?format=csv' },
  'PUT /remote/joined/{id}/notes': { asked_by: 'staff', make: makeClaimed, body: { notes: 'Slow disk.' } },
  'GET /remote/joined/{id}/customer': { asked_by: 'staff', make: makeRunning },
  'DELETE /scam-check/checks/{id}': {
    make: row('scam_checks', (own) => ({ ...own, created_at: AT, verdict: 'suspicious' as const, excerpt: '', answer: '{}' })),
  },
  'DELETE /scam-check/trusted/{id}': {
    make: row('scam_trusted', (own) => ({ ...own, domain: 'shop.example', created_at: AT })),
  },
  'PUT /web-protection/agents/{id}': { make: makeDevice, body: { is_on: true } },
  'DELETE /web-protection/devices/{id}': { make: makeWebDevice },
  'POST /web-protection/devices/{id}/renew-key': { make: makeWebDevice },
  'POST /web-protection/devices/{id}/show-names': { make: makeWebDevice, body: { shown: true } },
  'GET /web-protection/devices/{id}/names': { make: makeWebDevice },
  'DELETE /web-protection/names/{id}': {
    make: row('web_names', (own) => ({ ...own, name: 'shop.example', verdict: 'block' as const, created_at: AT })),
  },
  'PATCH /household/profiles/{id}': { make: makeProfile, body: { name: 'Other' } },
  'DELETE /household/profiles/{id}': { make: makeProfile },
  'POST /household/profiles/{id}/pause': { make: makeProfile, body: { pause: '15' } },
  'POST /household/profiles/{id}/renew-key': { make: makeProfile },
  'POST /household/profiles/{id}/names': { make: makeProfile, body: { name: 'shop.example', verdict: 'block' } },
  'POST /household/profiles/{id}/try': { make: makeProfile, body: { name: 'shop.example', day: 1, clock: '10:00' } },
  'DELETE /household/names/{id}': {
    make: async (owner, staff, app) => {
      const id = await makeProfile(owner, staff, app);
      const named = z.object({ names: z.array(idSchema) });
      const body = { name: `d${newId()}.example`, verdict: 'block' };
      return named.parse(await owner('POST', `/household/profiles/${id}/names`, body)).names[0]?.id ?? '';
    },
  },
  'PUT /household/devices/{id}': { make: makeWebDevice, body: { profile_id: null } },
  'POST /household/asks/{id}/answer': {
    body: { answer: 'no' },
    make: async (owner, staff, all) => {
      const [id, profile_id] = [newId(), await makeProfile(owner, staff, all)];
      const asked = { name: 'shop.example', count: 1, asked_at: new Date().toISOString(), device_id: null, line: '' };
      const open = { answer: 'wait', answered_at: null, until: null } as const;
      await insertRow(all.app.database, 'profile_asks', { id, profile_id, ...asked, ...open });
      return id;
    },
  },
  'DELETE /household/invites/{id}': {
    make: async (owner, staff, app) => {
      await makeProfile(owner, staff, app);
      return await made(owner, '/household/invites', { email: `p${newId()}@example.com` });
    },
  },
  'GET /premium/anti-hacking/alerts/{id}': { make: makeAlert },
  'POST /premium/anti-hacking/alerts/{id}/acknowledge': { make: makeAlert },
  'POST /premium/anti-hacking/alerts/{id}/resolve': { make: makeAlert, body: { reason: 'fixed' } },
  'POST /premium/anti-hacking/alerts/{id}/reopen': {
    make: row('alerts', (own) => ({ ...alertOf(own), ...RESOLVED, resolved_at: AT })),
  },
  'POST /premium/anti-hacking/alerts/{id}/not-me': { make: makeAlert },
  'DELETE /premium/anti-hacking/suppressions/{id}': {
    async make(owner, staff, app) {
      await givePremium(app.app.database, app.user_id);
      const hidden = { rule: 'test', source: '192.0.2.1', description: 'Tried.', hidden_count: 0, last_hidden_at: null };
      const times = { created_at: AT, until: NEVER };
      return await row('alert_suppressions', (own) => ({ ...own, ...hidden, ...times }))(owner, staff, app);
    },
  },
  'DELETE /premium/anti-hacking/blocks/{id}': {
    make: row('blocks', (own) => {
      const block = { kind: 'pair', source: '192.0.2.1', account: own.user_id, rule: 'wrong_passwords', counts: 1 } as const;
      return { ...own, ...block, since: AT, until: NEVER, level: 1, lifted_at: null, lifted_by: null };
    }),
  },
  'DELETE /push/subscriptions/{id}': {
    make: async (owner) => {
      const keys = { p256dh: createECDH('prime256v1').generateKeys('base64url'), auth: 'A'.repeat(22) };
      await owner('POST', '/push/subscriptions', { endpoint: `https://fcm.googleapis.com/${newId()}`, keys });
      const { subscriptions } = z.object({ subscriptions: z.array(idSchema) }).parse(await owner('GET', '/push'));
      return subscriptions[0]?.id ?? '';
    },
  },
  'DELETE /subscription/requests/{id}': {
    make: async (owner, staff) => {
      const terms = { base_price: 1, duration_months: 1, max_devices: 1, is_premium: false, features: [] };
      const template = { template_name: `Plan ${newId()}`, ...terms };
      await staff('POST', '/admin/subscription-templates', template);
      const [plan] = z.array(idSchema).parse(await owner('GET', '/subscription/plans'));
      return await made(owner, '/subscription/requests', { template_id: plan?.id });
    },
  },
};

type Make = (owner: Asker, staff: Asker, app: RecordApp) => Promise<string>;

interface RecordApp {
  app: App;
  url: string;
  data_dir: string;
  /** The owner's. */
  user_id: string;
  token: string;
  staff_token: string;
  /** Uploads a file to an address, and answers the status. */
  sendFile: (token: string, path: string) => Promise<number>;
  /** Has a file scanned as the owner, and answers the id of its record. */
  upload: (content: Buffer) => Promise<string>;
}

function makeScan(_owner: Asker, _staff: Asker, { upload }: RecordApp): Promise<string> {
  return upload(EICAR);
}

async function makePasskey(owner: Asker, _staff: Asker, { url }: RecordApp): Promise<string> {
  await owner('POST', '/auth/two-factor/confirm', { current_password: 'a long enough password' }).catch(() => undefined);
  const options = passkeyCreationSchema.parse(await owner('POST', '/auth/two-factor/passkeys/options'));
  const passkey = new Authenticator(url.replace('127.0.0.1', 'localhost')).create(options);
  const added = await owner('POST', '/auth/two-factor/passkeys', { name: 'Phone', passkey });
  return z.object({ passkey: idSchema }).parse(added).passkey.id;
}

export type Asker = (method: string, path: string, body?: object) => Promise<unknown>;

/** A computer, of a person whose plan allows it and who has no other. */
async function makeDevice(owner: Asker, _staff: Asker, { url }: RecordApp): Promise<string> {
  for (const { id } of z.array(idSchema).parse(await owner('GET', '/devices'))) await owner('DELETE', `/devices/${id}`);
  const { code } = z.object({ code: z.string() }).parse(await owner('POST', '/devices/enrolment-code'));
  const response = await fetch(`${url}/api/agent/enrol`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(computer(code, { public_key: KEY })),
  });
  return z.object({ device_id: z.string() }).parse(await response.json()).device_id;
}

/** A file that a device found, and that it can send. */
async function makeFinding(owner: Asker, staff: Asker, app: RecordApp): Promise<string> {
  const device_id = await makeDevice(owner, staff, app);
  const { database } = app.app;
  const { capabilities } = helloOf({ device_id, token: '' });
  const { user_id } = await database
    .updateTable('devices')
    .set({ capabilities: JSON.stringify(capabilities) })
    .where('id', '=', device_id)
    .returning('user_id')
    .executeTakeFirstOrThrow();
  const id = newId();
  await insertRow(database, 'device_findings', {
    ...{ id, user_id, device_id, finding_id: id, scan_id: null, path: '/a', file_hash: 'a'.repeat(64), size: 1, threat: 'X' },
    ...{ member: null, found_at: '2026-11-20T10:00:00.000Z', state: 'quarantined', reason: null },
  });
  return id;
}

async function makeAskedFinding(owner: Asker, staff: Asker, app: RecordApp): Promise<string> {
  const id = await makeFinding(owner, staff, app);
  await owner('POST', `/devices/findings/${id}/second-look`, { agreed: true });
  return id;
}

async function makeRule(owner: Asker): Promise<string> {
  return await made(owner, '/firewall/rules', { rule_name: 'Web', port: '443' });
}

/** A profile, of a person who has a plan from now on. */
async function makeProfile(owner: Asker, _staff: Asker, { app, user_id }: RecordApp): Promise<string> {
  await givePremium(app.database, user_id);
  const body = { name: 'Mia', picture: 'fox', age_group: 'child', time_zone: 'UTC' };
  return await made(owner, '/household/profiles', body);
}

async function makeSession(owner: Asker): Promise<string> {
  return await made(owner, '/remote/session');
}

/** A session that a technician asks to join. */
async function makeClaimed(owner: Asker, staff: Asker): Promise<string> {
  const session = z.object({ id: z.string(), session_code: z.string() }).parse(await owner('POST', '/remote/session'));
  await staff('POST', '/remote/join', { session_code: session.session_code });
  return session.id;
}

/** One that runs, with a page of each side, in which everything of its browsers is allowed. */
async function makeGranted(owner: Asker, staff: Asker, app: RecordApp): Promise<string> {
  const id = await makeRunning(owner, staff);
  await grantInBrowsers(app, id);
  return id;
}

/** A recording that its technician has begun. */
async function makeRecording(owner: Asker, staff: Asker, app: RecordApp): Promise<string> {
  const id = await makeGranted(owner, staff, app);
  return await made(staff, `/remote/sessions/${id}/recordings`);
}

async function makeRunning(owner: Asker, staff: Asker): Promise<string> {
  const id = await makeClaimed(owner, staff);
  await owner('POST', `/remote/sessions/${id}/approve`, { view: 'talk' });
  return id;
}
