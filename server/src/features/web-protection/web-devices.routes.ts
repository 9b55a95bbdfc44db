import type { AuditKind } from '@palisade/contract/audit';
import { may } from '@palisade/contract/may';
import {
  addWebDevice,
  listShownNames,
  removeWebDevice,
  renewWebKey,
  showWebNames,
  switchAgentNames,
} from '@palisade/contract/web-protection';
import type { FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { originOf } from '#platform/origin.ts';
import { nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { QuestionCounts } from './question-counts.ts';
import type { WebDeviceRow, WebDevices } from './web-devices.ts';
import { refuse } from './web-protection.refusals.ts';
import type { WebProtectionTables } from './web-protection.tables.ts';

/** Returns the maximum number of a person's web protection devices. */
export type LimitOf = (user: Parameters<typeof may.administrate>[0] & { id: string }) => Promise<number>;

type Changed = <Result>(result: Result) => Result;
type By = { session: { user: { id: string } }; request: FastifyRequest };
export type Recorded = <Result>(
  by: By,
  kind: AuditKind,
  change: (database: Kysely<WebProtectionTables>) => Promise<Result>,
  details?: Record<string, string>,
  /** Returns the owners of changed devices; the entry also appears in their history. */
  owners?: (result: Result) => readonly string[],
) => Promise<Result>;

/** Runs a change and records it in the audit log, in one transaction. Entries contain no websites. */
export function recorderOf(database: Kysely<WebProtectionTables & AuditTables>, audit: Audit, changed: Changed): Recorded {
  return async ({ session, request }, kind, change, details = {}, owners = () => []) => {
    const { id } = session.user;
    return changed(
      await inTransaction(database, async (transaction) => {
        const result = await change(transaction.$pickTables<keyof WebProtectionTables>());
        const entry = { kind, actor_id: id, origin: originOf(request), details };
        for (const subject_id of new Set([id, ...owners(result)]))
          await audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), { ...entry, subject_id });
        return result;
      }),
    );
  };
}

const detailsOf = ({ name, kind }: { name: string; kind: string }) => ({ device_name: name, kind });

/** Serves the routes of web protection devices, and the switch for computers with the agent. */
export function serveWebDevices(
  api: Api,
  parts: {
    devices: WebDevices;
    counts: Pick<QuestionCounts, 'shownNames'>;
    findDevice: (id: string) => Promise<(WebDeviceRow & { guardian_ids: readonly string[] }) | undefined>;
    changedPage: (user_id: string) => void;
    findAgent: (device_id: string) => Promise<{ id: string; user_id: string; device_name: string } | undefined>;
    /** Sends the desired state to an agent. */
    tellAgent: (device_id: string) => Promise<void>;
    limitOf: LimitOf;
    recorded: Recorded;
    changed: Changed;
  },
): void {
  const { devices, counts, findDevice, changedPage, findAgent, tellAgent, limitOf, recorded, changed } = parts;
  const ownDevice = { find: ({ id }: { id: string }) => devices.find(id) };
  /** Access check: the owner, and guardians with equal rights over the devices of their profiles. */
  const homeDevice = {
    find: ({ id }: { id: string }) => findDevice(id),
    may: (me: { id: string }, row: { guardian_ids: readonly string[] }) => row.guardian_ids.includes(me.id),
  };
  const ownAgent = { find: ({ id }: { id: string }) => findAgent(id) };

  serve(api, addWebDevice, 'customer', async ({ session, request, body }) => {
    if (body.address !== undefined && !may.administrate(session.user)) throw refuse('web_device.address_of_network');
    const limit = await limitOf(session.user);
    const add = (transaction: Kysely<WebProtectionTables>) => devices.add(session.user.id, limit, body, transaction);
    return await recorded({ session, request }, 'web_device_added', add, detailsOf(body));
  });
  serve(api, removeWebDevice, homeDevice, async ({ row, ...by }) => {
    const remove = (transaction: Kysely<WebProtectionTables>) => devices.remove(row.id, transaction);
    await recorded(by, 'web_device_removed', remove, detailsOf(row), () => [row.user_id]);
    row.guardian_ids.forEach(changedPage);
    if (row.device_id !== null) await tellAgent(row.device_id);
  });
  serve(api, renewWebKey, homeDevice, async ({ row, ...by }) => {
    const renew = (transaction: Kysely<WebProtectionTables>) => devices.renewKey(row, transaction);
    const renewed = await recorded(by, 'web_key_renewed', renew, detailsOf(row), () => [row.user_id]);
    row.guardian_ids.forEach(changedPage);
    if (row.device_id !== null) await tellAgent(row.device_id);
    return renewed;
  });
  serve(api, switchAgentNames, ownAgent, async ({ row, body: { is_on }, ...by }) => {
    const known = await devices.findByAgent(row.id);
    if (is_on === (known !== undefined)) return;
    const added = { name: row.device_name, kind: 'linux', device_id: row.id } as const;
    const limit = await limitOf(by.session.user);
    if (known === undefined)
      await recorded(by, 'web_device_added', (some) => devices.add(row.user_id, limit, added, some), detailsOf(added));
    else await recorded(by, 'web_device_removed', (some) => devices.remove(known.id, some), detailsOf(known));
    await tellAgent(row.id);
  });
  serve(api, showWebNames, ownDevice, async ({ row, body: { shown }, ...by }) => {
    if (!shown) return changed(await devices.showNames(row, shown));
    return await recorded(by, 'web_names_shown', (transaction) => devices.showNames(row, shown, transaction), detailsOf(row));
  });
  serve(api, listShownNames, ownDevice, async ({ row, query, header, request }) => {
    const rows = row.profile_id === null ? await counts.shownNames(row.id, query) : [];
    return nextPage({ query, request, header }, rows);
  });
}
