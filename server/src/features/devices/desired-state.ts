import { createHash } from 'node:crypto';
import { canonicalRules, DEVICE_RULES_MAXIMUM, type Desired, ENROLLED_DEFAULTS, type Signatures } from '@palisade/contract/agent';
import { deviceRuleOf } from '@palisade/contract/device-rule';
import type { Rule } from '@palisade/contract/firewall';
import type { Kysely } from 'kysely';
import { capabilitiesOf, desiredRev, foldersSchema, SCANS_OVER } from './device-record.ts';
import type { DeviceTables } from './devices.tables.ts';
import type { MeasuredSessions } from './measured-sessions.ts';
import type { SecondLooks } from './second-looks.ts';
import type { SignatureEditions } from './signature-editions.ts';

/** The parts of persons' rules that devices need. */
export interface PersonsRules {
  /** The number of changes, and the enabled rules; never older than `rev`. */
  enforced(user_id: string): Promise<{ rev: number; rules: Rule[] }>;
  rev(user_id: string): Promise<number>;
  ruleIds(user_id: string): Promise<string[]>;
}

/** The screen access that a remote session grants to a device now. */
export type GrantedOf = (device: {
  id: string;
  user_id: string;
}) => Promise<{ session_id: string; grants: readonly string[] } | undefined>;

/** Keys with which agents query this server's DNS. */
export interface NameKeys {
  /** Undefined if the person has web protection off for the device. */
  keyOf(device_id: string): Promise<string | undefined>;
  /** Its device is revoked. */
  end(device_id: string): Promise<void>;
}

/** The desired state of devices. */
export interface DesiredStates {
  /** A mark that changes with the state to tell; undefined for a device that is revoked. */
  markOf(device_id: string): Promise<string | undefined>;
  /** The whole state that a device is to have, and its mark. */
  desired(device_id: string): Promise<{ mark: string; desired: Desired } | undefined>;
}

/** Records a change of another part of a device's desired state; nudge its agent afterwards. */
export async function raiseToldRev(database: Kysely<DeviceTables>, device_id: string): Promise<void> {
  const next = database.updateTable('devices').set(({ eb }) => ({ told_rev: eb('told_rev', '+', 1) }));
  await next.where('id', '=', device_id).execute();
}

/** Differs whenever the state to send differs. */
const markWith = (rev: number, told_rev: number, signatures: Signatures | null, control: Desired['control']) =>
  `${rev}.${told_rev}.${signatures?.number ?? 0}.${JSON.stringify(control)}`;

export function createDesiredStates(parts: {
  database: Kysely<DeviceTables>;
  rules: Pick<PersonsRules, 'enforced' | 'rev'>;
  signatureEditions: Pick<SignatureEditions, 'current'>;
  measuredSessions: Pick<MeasuredSessions, 'wanted'>;
  secondLooks: Pick<SecondLooks, 'wanted'>;
  nameKeys: Pick<NameKeys, 'keyOf'>;
  grantedOf: GrantedOf;
}): DesiredStates {
  const { database, rules, signatureEditions, measuredSessions, secondLooks, nameKeys, grantedOf } = parts;

  async function controlOf(device: { id: string; user_id: string }): Promise<Desired['control']> {
    const granted = await grantedOf(device);
    if (granted === undefined) return null;
    const { session_id, grants } = granted;
    return { session_id, input: grants.includes('control'), clipboard: grants.includes('clipboard') };
  }

  async function markOf(device_id: string): Promise<string | undefined> {
    const device = await database
      .selectFrom('devices')
      .select(['user_id', 'own_rev', 'told_rev', 'confirmed_at', 'revoked_at'])
      .where('id', '=', device_id)
      .executeTakeFirst();
    if (device === undefined || device.revoked_at !== null) return undefined;
    const control = await controlOf({ id: device_id, user_id: device.user_id });
    return markWith(
      desiredRev(device, await rules.rev(device.user_id)),
      device.told_rev,
      await signatureEditions.current(),
      control,
    );
  }

  async function desired(device_id: string): Promise<{ mark: string; desired: Desired } | undefined> {
    const device = await database.selectFrom('devices').selectAll().where('id', '=', device_id).executeTakeFirst();
    if (device === undefined || device.revoked_at !== null) return undefined;
    const { rev, rules: all } = await rules.enforced(device.user_id);
    const [signatures, remote_sessions, second_looks, control, key, jobs, orders] = await Promise.all([
      signatureEditions.current(),
      measuredSessions.wanted(device_id),
      secondLooks.wanted(device_id),
      controlOf(device),
      nameKeys.keyOf(device_id),
      database
        .selectFrom('device_scans')
        .select(['id', 'scan', 'path', 'wanted'])
        .where('device_id', '=', device_id)
        .where('state', 'not in', SCANS_OVER)
        .orderBy('id')
        .limit(20)
        .execute(),
      database
        .selectFrom('device_findings')
        .select(['order_id', 'finding_id', 'order_action'])
        .where('device_id', '=', device_id)
        .where('order_id', 'is not', null)
        .orderBy('id')
        .limit(200)
        .execute(),
    ]);
    const is_confirmed = device.confirmed_at !== null;
    const is_parsed = capabilitiesOf(device)?.parsed_rules === true;
    const state = {
      defaults: is_confirmed ? { inbound: device.default_inbound, outbound: device.default_outbound } : ENROLLED_DEFAULTS,
      rules: all
        .filter(({ device_ids }) => is_confirmed && (device_ids.length === 0 || device_ids.includes(device_id)))
        .slice(0, DEVICE_RULES_MAXIMUM)
        .map((rule) => deviceRuleOf(rule, is_parsed)),
      block_list: [],
    };
    const desired_rev = desiredRev(device, rev);
    return {
      mark: markWith(desired_rev, device.told_rev, signatures, control),
      desired: {
        kind: 'desired',
        rev: desired_rev,
        hash: createHash('sha256').update(canonicalRules(state)).digest('hex'),
        ...state,
        scan_jobs: is_confirmed ? jobs : [],
        file_orders: orders.flatMap(({ order_id: id, finding_id, order_action: action }) =>
          id === null || action === null ? [] : [{ id, finding_id, action }],
        ),
        second_looks: is_confirmed ? second_looks : [],
        exclusions: foldersSchema.parse(JSON.parse(device.exclusions)),
        watched: foldersSchema.parse(JSON.parse(device.watched)),
        is_watching: device.is_watching === 1,
        signatures,
        remote_sessions: is_confirmed ? remote_sessions : [],
        control: is_confirmed ? control : null,
        web_protection: is_confirmed && key !== undefined ? { key } : null,
      },
    };
  }

  return { markOf, desired };
}
