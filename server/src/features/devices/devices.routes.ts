import {
  deviceTokenSchema,
  downloadSignatures,
  enrolDevice,
  leaveDevice,
  pollAgent,
  sendForSecondLook,
  verifyDevice,
} from '@palisade/contract/agent';
import type { Scan } from '@palisade/contract/antivirus';
import {
  askSecondLook,
  changeDevice,
  confirmDevice,
  countDeviceWishes,
  countRules,
  createEnrolmentCode,
  listBlocked,
  listDeviceFindings,
  listDeviceScans,
  listDevices,
  listDeviceWishes,
  orderDeviceFinding,
  readDevice,
  removeDevice,
  revokeDevice,
  saveDeviceWish,
  startDeviceScan,
  steerDeviceScan,
  withdrawDeviceWish,
  withdrawSecondLook,
} from '@palisade/contract/devices';
import type { FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import type { KeptAnswers } from '#platform/kept-answers.ts';
import { originOf } from '#platform/origin.ts';
import { nextPage } from '#platform/page.ts';
import { Problem } from '#platform/problem.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { AgentService } from './agent-channel.ts';
import type { Agents } from './agents.ts';
import type { NameKeys } from './desired-state.ts';
import type { DeviceRow } from './device-record.ts';
import { countWishes, deleteWish, saveWish, wishesOf } from './device-wishes.ts';
import { refuse } from './devices.refusals.ts';
import type { DeviceTables } from './devices.tables.ts';
import type { Devices } from './devices.ts';
import type { Enrolment } from './enrolment.ts';
import type { SecondLooks } from './second-looks.ts';
import type { SignatureEditions } from './signature-editions.ts';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u;
const NOT_SAFE =
  'Adding a device needs a secure connection (https). Ask your server administrator to set up https and PUBLIC_URL.';

/** The command that installs the agent and asks for the code: only from an address whose downloads are this server's own. */
function commandOf(base: string): { command: string | null; refusal: string | null } {
  const { protocol, hostname, origin } = new URL(base);
  if (protocol !== 'https:' && !LOOPBACK.test(hostname)) return { command: null, refusal: NOT_SAFE };
  return { command: `curl -fsS ${origin}/agent/install.sh | sudo sh`, refusal: null };
}

/** The address at which pages and agents reach this server. */
function baseOf(request: FastifyRequest, public_url: string | undefined): string {
  return public_url ?? `${request.protocol}://${request.host}`;
}

/** Receives the file of a request and has it scanned, as an upload of a person. */
type ReceiveFile = (
  request: FastifyRequest,
  expected: {
    user_id: string;
    filename: string;
    maximum: number;
    accept: (scan_id: string, arrived: { size: number; sha256: string }) => Promise<void>;
  },
) => Promise<Pick<Scan, 'id'>>;

const NOT_SCANNED = 'The server couldn’t scan it.';

/** The name of a file without the folders that it is in. */
const nameOf = (path: string) => path.split('/').at(-1) ?? '';

interface DevicesRoutes {
  database: Kysely<Pick<DeviceTables, 'device_wishes'>>;
  devices: Devices;
  enrolment: Enrolment;
  agents: Agents;
  signatureEditions: SignatureEditions;
  secondLooks: SecondLooks;
  receive: ReceiveFile;
  agentService: () => AgentService;
  /** Called with a person whose devices were changed by someone else. */
  onChange: (user_id: string) => void;
  nameKeys: Pick<NameKeys, 'end'>;
  keptAnswers: Pick<KeptAnswers, 'keepList'>;
  public_url: string | undefined;
  now: () => number;
}

export function serveDevices(api: Api, parts: DevicesRoutes): void {
  const { database, devices, enrolment, agents, signatureEditions, secondLooks, receive, agentService, onChange } = parts;
  const { nameKeys, keptAnswers, public_url, now } = parts;
  const own = { find: ({ id }: { id: string }) => devices.find(id) };
  const ownScan = { find: ({ id }: { id: string }) => devices.findScan(id) };
  const ownFinding = { find: ({ id }: { id: string }) => devices.findFinding(id) };
  const doer = (request: FastifyRequest, actor_id: string) => ({ origin: originOf(request), actor_id });

  const revoke = async (row: DeviceRow, by: ReturnType<typeof doer>) => {
    const revoked = await devices.revoke(row, by);
    await nameKeys.end(row.id);
    return revoked;
  };

  const list = keptAnswers.keepList(listDevices, async (call) =>
    nextPage(call, await devices.list(call.session.user.id, call.query)),
  );
  serve(api, listDevices, 'customer', list);
  serve(api, createEnrolmentCode, 'customer', async ({ session, request }) => {
    const { code, expires_at } = await enrolment.newCode(session.user.id);
    return { code, expires_at, ...commandOf(baseOf(request, public_url)) };
  });
  serve(api, listDeviceWishes, 'customer', ({ session }) => wishesOf(database, session.user.id));
  serve(api, saveDeviceWish, 'customer', ({ session, body }) => saveWish(database, { ...body, user_id: session.user.id }, now()));
  serve(api, withdrawDeviceWish, 'customer', ({ session, body }) => deleteWish(database, session.user.id, body.system));
  serve(api, countDeviceWishes, 'admin', () => countWishes(database));
  serve(api, countRules, 'customer', ({ session }) => devices.counters(session.user.id));
  serve(api, listBlocked, 'customer', ({ session }) => devices.blocked(session.user.id));
  serve(api, readDevice, own, ({ row }) => devices.read(row));
  serve(api, changeDevice, own, ({ row, body }) => devices.change(row, body));
  serve(api, confirmDevice, own, ({ row, body }) => devices.confirm(row, body.fingerprint));
  serve(api, revokeDevice, own, ({ row, session, request }) => revoke(row, doer(request, session.user.id)));
  serve(api, removeDevice, own, ({ row, session, request }) => devices.remove(row, doer(request, session.user.id)));
  serve(api, listDeviceScans, own, async (call) => nextPage(call, await devices.scans(call.row, call.query)));
  serve(api, startDeviceScan, own, ({ row, body }) => devices.startScan(row, body));
  serve(api, steerDeviceScan, ownScan, ({ row, body }) => devices.steerScan(row, body.wanted));
  serve(api, listDeviceFindings, 'customer', async (call) =>
    nextPage(call, await devices.findings(call.session.user.id, call.query)),
  );
  serve(api, orderDeviceFinding, ownFinding, ({ row, body }) => devices.order(row, body.action));

  serve(api, askSecondLook, ownFinding, ({ row, session, request }) => secondLooks.ask(row, doer(request, session.user.id)));
  serve(api, withdrawSecondLook, ownFinding, ({ row, session, request }) =>
    secondLooks.withdraw(row, doer(request, session.user.id)),
  );

  // The agents' own. The token alone decides what a device may reach.
  const ofDevices: Api = { ...api, isDevice: async (identity) => (await agents.authenticate(identity)) !== undefined };
  serve(api, enrolDevice, 'anyone', async ({ body, request }) => {
    const { user_id, ...enrolled } = await enrolment.enrol(body, originOf(request));
    onChange(user_id);
    return enrolled;
  });
  serve(ofDevices, verifyDevice, 'anyone', async ({ body }) => {
    if ((await agents.authenticate(body)) === undefined) throw new Problem('device_revoked');
    return { nonce: body.nonce, at: new Date(now()).toISOString() };
  });
  serve(ofDevices, pollAgent, 'anyone', async ({ body, request }) => {
    const gone = new AbortController();
    request.raw.once('close', () => gone.abort());
    return { told: await agentService().poll(body.hello, body.said, gone.signal) };
  });
  serve(ofDevices, downloadSignatures, 'anyone', async ({ body }) => {
    if ((await agents.authenticate(body)) === undefined) throw new Problem('device_revoked');
    const file = await signatureEditions.open(body.version);
    if (file === undefined) throw refuse('threat_definitions.none');
    return file;
  });
  serve(ofDevices, sendForSecondLook, 'anyone', async ({ query, request }) => {
    const token = deviceTokenSchema.safeParse(/^Bearer (.*)$/iu.exec(request.headers.authorization ?? '')?.[1]).data;
    const device = token === undefined ? undefined : await agents.authenticate({ device_id: query.device_id, token });
    if (device === undefined) throw new Problem('device_revoked');
    const { user_id } = device;
    const awaited = await secondLooks.find(device, query.order_id);
    let scan_id: string | undefined;
    try {
      const { id } = await receive(request, {
        ...{ user_id, filename: nameOf(awaited.finding.path), maximum: awaited.finding.size },
        async accept(id, arrived) {
          await secondLooks.accept(awaited, id, arrived, { origin: originOf(request), actor_id: null });
          scan_id = id;
          onChange(user_id);
        },
      });
      await secondLooks.ended(id, null);
      return { id };
    } catch (error) {
      if (scan_id !== undefined) await secondLooks.ended(scan_id, error instanceof Problem ? error.message : NOT_SCANNED);
      throw error;
    } finally {
      onChange(user_id);
    }
  });
  serve(ofDevices, leaveDevice, 'anyone', async ({ body, request }) => {
    const row = await agents.authenticate(body);
    if (row === undefined) throw new Problem('device_revoked');
    await revoke(row, doer(request, row.user_id));
    onChange(row.user_id);
  });
}
