import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Access } from '@palisade/contract/endpoint';
import { type ProblemDocument, problemSchema } from '@palisade/contract/problem';
import { passkeyCreationSchema } from '@palisade/contract/two-factor';
import { EICAR } from '@palisade/scanner/test/files';
import { PACKED_EICAR } from '@palisade/scanner/test/packed-eicar';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { newId } from '#platform/id.ts';
import type { App } from '#server/app.ts';
import { computer, helloOf } from './agent-double.ts';
import { Authenticator } from './authenticator.ts';
import { DESK_RECORDS } from './desk-records.ts';
import { allEndpoints } from './endpoints.ts';
import { foundClean, grantInBrowsers } from './granted-session.ts';
import { startTestApp } from './harness.ts';
import { newUploadKey, openUpload, scanned } from './upload.ts';

/** The access table: who may call what. A new endpoint fails here until it stands in it. */
const ACCESS: Record<string, Access> = {
  'GET /config': 'anyone',
  'GET /health': 'anyone',
  'GET /ready': 'anyone',

  'POST /auth/login': 'anyone',
  'POST /auth/register': 'anyone',
  'POST /auth/forgot-password': 'anyone',
  'POST /auth/reset-password': 'anyone',
  'POST /auth/recover-username': 'anyone',
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
  'GET /devices': 'customer',
  'GET /devices/{id}': 'customer',
  'POST /remote/sessions/{id}/grants': 'customer',
  'POST /remote/sessions/{id}/revoke': 'customer',
  'POST /devices/enrolment-code': 'customer',
  'PUT /devices/{id}/name': 'customer',
  'PUT /devices/{id}/defaults': 'customer',
  'PUT /devices/{id}/folders': 'customer',
  'POST /devices/{id}/revoke': 'customer',
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
  'POST /firewall/import': 'customer',
  'GET /firewall/revisions': 'customer',
  'POST /firewall/revisions/{id}/undo': 'customer',

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
  'GET /subscription/requests': 'customer',
  'POST /subscription/requests': 'customer',
  'DELETE /subscription/requests/{id}': 'customer',
  'GET /premium/anti-hacking/alerts': 'customer',
  'GET /premium/anti-hacking/alerts/{id}': 'customer',
  'POST /premium/anti-hacking/alerts/{id}/acknowledge': 'customer',
  'POST /premium/anti-hacking/alerts/{id}/resolve': 'customer',
  'POST /premium/anti-hacking/alerts/{id}/reopen': 'customer',
  'POST /premium/anti-hacking/alerts/{id}/not-me': 'customer',
  'GET /premium/anti-hacking/suppressions': 'customer',
  'POST /premium/anti-hacking/suppressions/preview': 'customer',
  'DELETE /premium/anti-hacking/suppressions/{id}': 'customer',
  'GET /premium/anti-hacking/monitor': 'customer',
  'GET /premium/anti-hacking/stats': 'customer',
  'GET /premium/anti-hacking/history': 'customer',
  'GET /premium/anti-hacking/live-feed': 'customer',
  'POST /premium/anti-hacking/simulate-threat': 'customer',
  'POST /premium/anti-hacking/scan': 'customer',
  'GET /premium/anti-hacking/blocks': 'customer',
  'DELETE /premium/anti-hacking/blocks/{id}': 'customer',

  'GET /admin/subscriptions': 'admin',
  'GET /admin/subscription-templates': 'admin',
  'GET /admin/subscription-requests': 'admin',
  'GET /admin/overview': 'admin',
  'GET /admin/users': 'admin',
  'PATCH /admin/users': 'admin',
  'POST /admin/delete-unproven-user': 'admin',
  'GET /admin/user-sessions': 'admin',
  'POST /admin/end-user-sessions': 'admin',
  'GET /admin/audit': 'admin',
  'GET /admin/audit/chain': 'admin',
  'GET /admin/outbox': 'admin',
  'GET /admin/proxies': 'admin',
  'DELETE /admin/proxies': 'admin',
  'GET /admin/blocks': 'admin',
  'POST /admin/lift-block': 'admin',
  'GET /admin/quarantine-reports': 'admin',
  'POST /admin/decide-quarantine-report': 'admin',
  'POST /admin/setup-config': 'admin',
  'POST /admin/subscription-templates': 'admin',
  'POST /admin/assign-subscription': 'admin',
  'POST /admin/cancel-subscription': 'admin',
  'POST /admin/decline-subscription-request': 'admin',
};

/** What a session may do whose person has yet to set up the second factor that they must have, beside what anyone may. */
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

/** What takes a proved address, in public exposure. */
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
];

const idSchema = z.object({ id: z.string() });

/**
 * Every address that names a record: how somebody comes to own one, and a right body. `make` asks as the owner; `staff` asks as an administrator.
 */
const RECORDS: Record<
  string,
  {
    make: (owner: Asker, staff: Asker, app: RecordApp) => Promise<string>;
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
      await vi.waitFor(() => expect(readdirSync(join(data_dir, 'spool'))).toHaveLength(1));
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
  'PUT /devices/{id}/name': { make: makeDevice, body: { device_name: 'Other' } },
  'PUT /devices/{id}/defaults': { make: makeDevice, body: { inbound: 'block', outbound: 'allow' } },
  'PUT /devices/{id}/folders': { make: makeDevice, body: { is_watching: false, watched: [], exclusions: [] } },
  'POST /devices/{id}/revoke': { make: makeDevice },
  'DELETE /devices/{id}': { make: makeDevice },
  'GET /devices/{id}/scans': { make: makeDevice },
  'POST /devices/{id}/scans': { make: makeDevice, body: { scan: 'quick' } },
  'POST /devices/scans/{id}/steer': {
    body: { wanted: 'pause' },
    make: async (owner, staff, app) => {
      const id = await makeDevice(owner, staff, app);
      return idSchema.parse(await owner('POST', `/devices/${id}/scans`, { scan: 'quick' })).id;
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
      return z.array(idSchema).parse(await owner('GET', '/firewall/revisions'))[0]?.id ?? '';
    },
  },
  'POST /auth/sessions/{id}/end': {
    body: { password: 'a long enough password' },
    make: async (owner) =>
      z
        .array(idSchema)
        .min(1)
        .parse(await owner('GET', '/auth/sessions'))[0]?.id ?? '',
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
  'GET /premium/anti-hacking/alerts/{id}': { make: makeAlert },
  'POST /premium/anti-hacking/alerts/{id}/acknowledge': { make: makeAlert },
  'POST /premium/anti-hacking/alerts/{id}/resolve': { make: makeAlert, body: { reason: 'fixed' } },
  'POST /premium/anti-hacking/alerts/{id}/reopen': {
    make: async (owner, staff) => {
      const id = await makeAlert(owner, staff);
      await owner('POST', `/premium/anti-hacking/alerts/${id}/resolve`, { reason: 'test' });
      return id;
    },
  },
  'POST /premium/anti-hacking/alerts/{id}/not-me': {
    make: async (owner, staff, { app }) => {
      const id = await makeAlert(owner, staff);
      await app.database
        .updateTable('alerts')
        .set({ simulated: 0, threat_type: 'suspicious_login' })
        .where('id', '=', id)
        .execute();
      return id;
    },
  },
  'DELETE /premium/anti-hacking/suppressions/{id}': {
    make: async (owner, staff, { upload }) => {
      await makeAlert(owner, staff);
      await upload(EICAR);
      const alerts = z.array(idSchema).parse(await owner('GET', '/premium/anti-hacking/alerts?simulated=false'));
      const resolution = { reason: 'false_positive', suppress: true };
      await owner('POST', `/premium/anti-hacking/alerts/${alerts[0]?.id}/resolve`, resolution);
      return z.array(idSchema).parse(await owner('GET', '/premium/anti-hacking/suppressions'))[0]?.id ?? '';
    },
  },
  'DELETE /premium/anti-hacking/blocks/{id}': { make: makeBlock },
  'DELETE /subscription/requests/{id}': {
    make: async (owner, staff) => {
      const template = {
        template_name: `Plan ${Math.random()}`,
        base_price: 1,
        duration_months: 1,
        max_devices: 1,
        is_premium: false,
        features: [],
      };
      await staff('POST', '/admin/subscription-templates', template);
      const [plan] = z.array(idSchema).parse(await owner('GET', '/subscription/plans'));
      return idSchema.parse(await owner('POST', '/subscription/requests', { template_id: plan?.id })).id;
    },
  },
};

interface RecordApp {
  app: App;
  url: string;
  data_dir: string;
  /** The owner's. */
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

type Asker = (method: string, path: string, body?: object) => Promise<unknown>;

/** A computer, of somebody whose plan holds it and who has no other. */
async function makeDevice(owner: Asker, _staff: Asker, { url }: RecordApp): Promise<string> {
  for (const { id } of z.array(idSchema).parse(await owner('GET', '/devices'))) await owner('DELETE', `/devices/${id}`);
  const { code } = z.object({ code: z.string() }).parse(await owner('POST', '/devices/enrolment-code'));
  const response = await fetch(`${url}/api/agent/enrol`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(computer(code)),
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
  await database
    .insertInto('device_findings')
    .values({
      ...{ id, user_id, device_id, finding_id: id, scan_id: null, path: '/a', file_hash: 'a'.repeat(64), size: 1, threat: 'X' },
      ...{ member: null, found_at: '2026-11-20T10:00:00.000Z', state: 'quarantined', reason: null },
    })
    .execute();
  return id;
}

async function makeAskedFinding(owner: Asker, staff: Asker, app: RecordApp): Promise<string> {
  const id = await makeFinding(owner, staff, app);
  await owner('POST', `/devices/findings/${id}/second-look`, { agreed: true });
  return id;
}

async function makeRule(owner: Asker): Promise<string> {
  const rule = {
    rule_name: 'Web',
    direction: 'inbound',
    action: 'allow',
    protocol: 'tcp',
    source_ip: '*',
    destination_ip: '*',
    port: '443',
  };
  return idSchema.parse(await owner('POST', '/firewall/rules', rule)).id;
}

/** A drill, of somebody who has a premium plan from now on. */
async function makeAlert(owner: Asker, staff: Asker): Promise<string> {
  const { email } = z.object({ email: z.string() }).parse(await owner('GET', '/auth/me'));
  await staff('POST', '/admin/assign-subscription', {
    user_email: email,
    plan_name: 'Family Shield',
    price: 1,
    duration_months: 1,
    max_devices: 1,
    is_premium: true,
    features: [],
  });
  const drill = z.object({ threat_detected: idSchema }).parse(await owner('POST', '/premium/anti-hacking/simulate-threat'));
  return drill.threat_detected.id;
}

/** Five wrong passwords. */
async function makeBlock(owner: Asker, _staff: Asker, { url }: RecordApp): Promise<string> {
  const { email } = z.object({ email: z.string() }).parse(await owner('GET', '/auth/me'));
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ email, password: 'not the password' });
  for (let guess = 0; guess < 5; guess += 1) await fetch(`${url}/api/auth/login`, { method: 'POST', headers, body });
  return (
    z
      .array(idSchema)
      .min(1)
      .parse(await owner('GET', '/premium/anti-hacking/blocks'))[0]?.id ?? ''
  );
}

async function makeSession(owner: Asker): Promise<string> {
  return idSchema.parse(await owner('POST', '/remote/session')).id;
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
  return idSchema.parse(await staff('POST', `/remote/sessions/${id}/recordings`)).id;
}

async function makeRunning(owner: Asker, staff: Asker): Promise<string> {
  const id = await makeClaimed(owner, staff);
  await owner('POST', `/remote/sessions/${id}/approve`, { view: 'talk' });
  return id;
}

const ROLES = ['customer', 'support', 'admin'] as const;
const RANK: Record<Access, number> = { anyone: 0, customer: 1, support: 2, admin: 3 };
/** Refusals for another reason than the role. */
const OTHER_REFUSALS = ['premium_required', 'invalid_credentials', 'confirmation_required'];

const endpoints = await allEndpoints();
const byKey = new Map(endpoints.map((endpoint) => [endpoint.key, endpoint]));

/** Somebody new of each role, and a way to call any endpoint as one of them, with nothing of use in it. */
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
    const response = await fetch(`${app.url}/api${path}`, {
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

describe('the access table', async () => {
  const { app, tokens, ask } = await startWithRoles();

  test('names every endpoint of the contract and nothing else, with the access that the contract declares', () => {
    expect(Object.fromEntries(endpoints.map(({ key, access }) => [key, access]))).toEqual(ACCESS);
  });

  test('names every address that is served', async () => {
    const { paths } = z
      .object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
      .parse(await (await fetch(`${app.url}/api/openapi.json`)).json());
    const served = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/^\/api/, '')}`),
    );
    expect(served.sort()).toEqual(Object.keys(ACCESS).sort());
  });

  test.each(Object.entries(ACCESS))('%s takes nobody below %s', async (key, access) => {
    const stranger = await ask(key, undefined);
    if (access !== 'anyone') expect(stranger).toMatchObject({ status: 401, problem: { code: 'unauthenticated' } });
    else expect(stranger.problem?.code).not.toBe('unauthenticated');

    for (const role of ROLES) {
      // Signing out ends the session that the other rows use.
      const token = key === 'POST /auth/logout' ? (await app.signIn(undefined, role)).token : tokens[role];
      const { status, problem } = await ask(key, token);
      if (RANK[role] < RANK[access])
        expect({ role, status, code: problem?.code }).toEqual({ role, status: 403, code: 'forbidden' });
      else if (status === 401 || status === 403) expect(OTHER_REFUSALS).toContain(problem?.code);
    }
  });
});

test('who must have a second factor and has none calls nothing but what sets it up', async () => {
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

test('who has not proved their address calls everything else in public exposure', async () => {
  const { app, tokens, ask } = await startWithRoles({
    ...{ EXPOSURE: 'public', ADMIN_EMAILS: 'boss@example.com', RESET_DELIVERY: 'outbox' },
  });
  await app.app.database.updateTable('users').set({ email_proven_at: null }).execute();
  const refused: string[] = [];
  for (const [key, access] of Object.entries(ACCESS).filter(([, least]) => least !== 'anyone')) {
    if (key === 'POST /auth/logout') continue;
    const role = access === 'customer' ? 'customer' : access === 'support' ? 'support' : 'admin';
    const { problem } = await ask(key, tokens[role]);
    if (problem?.code === 'email_unproven') refused.push(key);
  }
  expect(refused.sort()).toEqual([...NEEDS_PROVEN_EMAIL].sort());
});

describe('a record', async () => {
  const app = await startTestApp();
  const sendAs = (token: string, method: string, path: string, body?: object) =>
    fetch(`${app.url}/api${path}`, {
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

  test.each(Object.entries(RECORDS))(
    'of somebody else, of nobody and without an id is not there: %s',
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
        return (await fetch(`${app.url}/api${to}`, { method: 'POST', body: content, headers })).status;
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
