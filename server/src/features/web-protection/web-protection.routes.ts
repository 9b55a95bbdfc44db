import { may } from '@palisade/contract/may';
import { UNLIMITED_DEVICES } from '@palisade/contract/subscription';
import {
  acceptDomainList,
  addWebName,
  checkWebName,
  listDomainLists,
  listWebRefusals,
  pauseWebProtection,
  readWebProtection,
  removeWebName,
  setWebPolicy,
  WEB_CATEGORIES,
  type WebProtection,
} from '@palisade/contract/web-protection';
import type { Kysely } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import { nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { CategoryLists } from './category-lists.ts';
import type { DangerousNames } from './dangerous-names.ts';
import type { DomainLists } from './domain-lists.ts';
import type { Policies } from './policies.ts';
import type { QuestionCounts } from './question-counts.ts';
import type { QuestionDesk } from './question-desk.ts';
import { SERVICES } from './services.ts';
import { type LimitOf, type Recorded, recorderOf, serveWebDevices } from './web-devices.routes.ts';
import type { WebDeviceRow, WebDevices } from './web-devices.ts';
import type { WebProtectionTables } from './web-protection.tables.ts';

const SHOWN_SERVICES = SERVICES.map(({ id, name, kind }) => ({ id, name, kind }));

/** Serves the routes of web protection. Returns `recorded`, which also clears cached rules after a change. */
export function serveWebProtection(
  api: Api,
  parts: {
    devices: WebDevices;
    policies: Policies;
    counts: QuestionCounts;
    lists: CategoryLists;
    domainLists: DomainLists;
    dangerous: DangerousNames;
    desk: Pick<QuestionDesk, 'forget'>;
    ways: WebProtection['ways'];
    /** Maximum web protection devices in a person's plan. */
    planLimit: (user_id: string) => Promise<number>;
    /** Finds a device with the people who may change it: its owner, and the guardians of its profile. */
    findDevice: (id: string) => Promise<(WebDeviceRow & { guardian_ids: readonly string[] }) | undefined>;
    /** Notifies the open pages of a person that their devices have changed. */
    changedPage: (user_id: string) => void;
    findAgent: (device_id: string) => Promise<{ id: string; user_id: string; device_name: string } | undefined>;
    /** Sends the desired state to an agent. */
    tellAgent: (device_id: string) => Promise<void>;
    database: Kysely<WebProtectionTables & AuditTables>;
    audit: Audit;
  },
): { recorded: Recorded } {
  const {
    devices,
    policies,
    counts,
    lists,
    domainLists,
    dangerous,
    desk,
    ways,
    planLimit,
    findDevice,
    changedPage,
    findAgent,
    tellAgent,
    database,
    audit,
  } = parts;
  const ownName = { find: ({ id }: { id: string }) => policies.findName(id) };
  /** Administrators need no plan. */
  const limitOf: LimitOf = async (user) => (may.administrate(user) ? UNLIMITED_DEVICES : await planLimit(user.id));
  /** Clears cached rules, so that the change applies to the next query. */
  const changed = <Result>(result: Result): Result => {
    desk.forget();
    return result;
  };

  serve(api, readWebProtection, 'customer', async ({ session }) => {
    const user_id = session.user.id;
    const [listed, own, devices_maximum, { policy, paused_until }, names] = await Promise.all([
      devices.list(user_id),
      devices.count(user_id),
      limitOf(session.user),
      policies.read(user_id),
      policies.names(user_id),
    ]);
    return {
      devices: listed,
      devices_maximum,
      devices_left: Math.max(0, devices_maximum - own),
      policy,
      paused_until,
      names,
      categories: WEB_CATEGORIES.map((category) => ({ category, names: lists.count(category) })),
      has_dangerous: dangerous.hasLists || domainLists.of('dangerous').length > 0,
      ways,
      services: SHOWN_SERVICES,
    };
  });
  const recorded = recorderOf(database, audit, changed);
  serveWebDevices(api, { devices, counts, findDevice, changedPage, findAgent, tellAgent, limitOf, recorded, changed });
  serve(api, setWebPolicy, 'customer', ({ body, ...by }) =>
    recorded(by, 'web_choices_changed', (transaction) => policies.set(by.session.user.id, body, transaction)),
  );
  serve(api, pauseWebProtection, 'customer', ({ body: { paused }, ...by }) =>
    recorded(by, paused ? 'web_protection_paused' : 'web_protection_resumed', (transaction) =>
      policies.pause(by.session.user.id, paused, transaction),
    ),
  );
  serve(api, checkWebName, 'customer', async ({ session, query }) => ({
    is_refused: await policies.refuses(session.user.id, query.name),
  }));
  serve(api, addWebName, 'customer', ({ body: { name, verdict }, ...by }) =>
    recorded(by, verdict === 'allow' ? 'web_name_allowed' : 'web_name_blocked', (transaction) =>
      policies.addName(by.session.user.id, name, verdict, transaction),
    ),
  );
  serve(api, removeWebName, ownName, ({ row, ...by }) =>
    recorded(by, 'web_name_removed', (transaction) => policies.removeName(row.id, transaction)),
  );
  serve(api, listDomainLists, 'admin', () => Promise.resolve(domainLists.list()));
  serve(api, acceptDomainList, 'admin', async ({ body, ...by }) => {
    const accepted = domainLists.list().find(({ id }) => id === body.id);
    await recorded(by, 'domain_list_accepted', () => domainLists.accept(body.id), { list: accepted?.name ?? '' });
    return domainLists.list();
  });
  serve(api, listWebRefusals, 'customer', async (call) => nextPage(call, await counts.refused(call.session.user.id, call.query)));
  return { recorded };
}
