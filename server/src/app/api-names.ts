import * as agent from '@palisade/contract/agent';
import * as alerts from '@palisade/contract/alerts';
import * as antiHacking from '@palisade/contract/anti-hacking';
import * as antivirus from '@palisade/contract/antivirus';
import * as audit from '@palisade/contract/audit';
import * as auth from '@palisade/contract/auth';
import * as blocks from '@palisade/contract/blocks';
import * as brand from '@palisade/contract/brand';
import * as chat from '@palisade/contract/chat';
import * as chatRead from '@palisade/contract/chat-read';
import * as chatRecord from '@palisade/contract/chat-record';
import * as currentSubscription from '@palisade/contract/current-subscription';
import * as dashboard from '@palisade/contract/dashboard';
import * as desk from '@palisade/contract/desk';
import * as deskCounts from '@palisade/contract/desk-counts';
import * as deskList from '@palisade/contract/desk-list';
import * as deskRecord from '@palisade/contract/desk-record';
import * as deskTeam from '@palisade/contract/desk-team';
import * as deviceRule from '@palisade/contract/device-rule';
import * as devices from '@palisade/contract/devices';
import * as engine from '@palisade/contract/engine';
import * as events from '@palisade/contract/events';
import * as fields from '@palisade/contract/fields';
import * as firewall from '@palisade/contract/firewall';
import * as help from '@palisade/contract/help';
import * as home from '@palisade/contract/home';
import * as household from '@palisade/contract/household';
import * as invitation from '@palisade/contract/invitation';
import * as mail from '@palisade/contract/mail';
import * as overview from '@palisade/contract/overview';
import * as personRecord from '@palisade/contract/person-record';
import * as platform from '@palisade/contract/platform';
import * as privacy from '@palisade/contract/privacy';
import * as proxy from '@palisade/contract/proxy';
import * as push from '@palisade/contract/push';
import * as quarantine from '@palisade/contract/quarantine';
import * as remote from '@palisade/contract/remote';
import * as remoteFiles from '@palisade/contract/remote-files';
import * as remoteGrant from '@palisade/contract/remote-grant';
import * as remoteRecord from '@palisade/contract/remote-record';
import * as remoteSession from '@palisade/contract/remote-session';
import * as remoteStaff from '@palisade/contract/remote-staff';
import * as report from '@palisade/contract/report';
import * as scamCheck from '@palisade/contract/scam-check';
import * as scanPhrases from '@palisade/contract/scan-phrases';
import * as sessions from '@palisade/contract/sessions';
import * as setup from '@palisade/contract/setup';
import * as subscription from '@palisade/contract/subscription';
import * as twoFactor from '@palisade/contract/two-factor';
import * as users from '@palisade/contract/users';
import * as webProtection from '@palisade/contract/web-protection';
import { z } from 'zod';

/** Modules of the contract that export endpoints, or the schemas of their records. */
const CONTRACT: readonly Record<string, unknown>[] = [
  agent,
  alerts,
  antiHacking,
  antivirus,
  audit,
  auth,
  blocks,
  brand,
  chat,
  chatRead,
  chatRecord,
  currentSubscription,
  dashboard,
  desk,
  deskCounts,
  deskList,
  deskRecord,
  deskTeam,
  deviceRule,
  devices,
  engine,
  events,
  fields,
  firewall,
  help,
  home,
  household,
  invitation,
  mail,
  overview,
  personRecord,
  platform,
  privacy,
  proxy,
  push,
  quarantine,
  remote,
  remoteFiles,
  remoteGrant,
  remoteRecord,
  remoteSession,
  remoteStaff,
  report,
  scamCheck,
  scanPhrases,
  sessions,
  setup,
  subscription,
  twoFactor,
  users,
  webProtection,
];

const endpointSchema = z.object({
  method: z.string(),
  path: z.string(),
  access: z.string(),
  params: z.unknown().optional(),
  query: z.unknown().optional(),
});

const pascal = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** Export names of the contract's endpoints, by method and path. */
export function endpointNames(): Map<string, string> {
  const names = new Map<string, string>();
  for (const [name, value] of CONTRACT.flatMap((file) => Object.entries(file))) {
    const endpoint = endpointSchema.safeParse(value).data;
    if (endpoint !== undefined) names.set(`${endpoint.method} ${endpoint.path}`, name);
  }
  return names;
}

/** Names the schemas of records, so that the API description defines each once: `auditEntrySchema` becomes `AuditEntry`. */
export function nameSchemas(): void {
  const exported = CONTRACT.flatMap((file) => Object.entries(file));
  // Schemas of parameters get no name, because the API description lists parameters inline.
  const taken = new Set<unknown>(exported.flatMap(([, value]) => Object.values(endpointSchema.safeParse(value).data ?? {})));
  for (const [name, value] of exported) {
    const id = pascal(name.replace(/Schema$/, ''));
    if (!(value instanceof z.ZodObject || value instanceof z.ZodUnion) || taken.has(value) || taken.has(id)) continue;
    taken.add(id);
    const known = z.globalRegistry.get(value);
    if (known?.id === undefined) z.globalRegistry.add(value, { ...known, id });
  }
}

/** Groups of endpoints in the API description, by the first segment of their paths. */
export const TAGS: Readonly<Record<string, string>> = {
  admin: 'What administrators do: people, plans, the audit log, lists and settings of the installation.',
  agent: 'What the agent of a device calls, with the token of that device.',
  antivirus: 'Scans of files, their verdicts, and quarantine.',
  ask: 'The page of a person in a home: what was refused, and “May I?”.',
  auth: 'Accounts, sign-in, second factors, sessions and the data of a person.',
  chat: 'The conversation of a customer with support.',
  config: 'Facts of the installation that the pages know before a sign-in.',
  dashboard: 'The state of an account at a glance.',
  devices: 'Computers with an agent: their state, scans, findings and settings.',
  firewall: 'Rules of the firewall, their analysis, revisions and exports.',
  health: 'Whether the process runs.',
  help: 'The pages of help.',
  household: 'The people of a home: their profiles, devices, and what they ask for.',
  premium: 'Alerts, detection and protection that a plan with premium tools has.',
  push: 'Notices to browsers.',
  ready: 'Whether the server can serve.',
  remote: 'Remote support: sessions, consent, files and recordings.',
  'scam-check': 'Checks of messages, addresses and pictures for fraud.',
  subscription: 'Plans and their assignment.',
  support: 'The desk of support staff.',
  'web-protection': 'Devices that ask this server for names, and which names it refuses them.',
};
