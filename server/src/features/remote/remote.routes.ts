import type { Activity } from '@palisade/contract/audit';
import type { UserInfo } from '@palisade/contract/auth';
import type { CustomerCard } from '@palisade/contract/desk';
import { may } from '@palisade/contract/may';
import {
  cancelSession,
  completeJoined,
  completeSession,
  createSession,
  joinSession,
  listJoined,
  listRemoteSessions,
  SESSION_LIMITS,
} from '@palisade/contract/remote';
import {
  approveSession,
  declineSession,
  exportSessionAudit,
  grantInSession,
  listSessionAudit,
  listSessionMessages,
  rateSession,
  readIce,
  readSession,
  readSessionChanges,
  reaffirmSession,
  reportSession,
  revokeInSession,
  writeSessionMessage,
} from '@palisade/contract/remote-session';
import {
  endOverseenSession,
  listOverseenAudit,
  listOverseenSessions,
  readSessionCustomer,
  writeNotes,
} from '@palisade/contract/remote-staff';
import type { DeviceChanges } from '@palisade/contract/session-changes';
import type { FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import { activityFile } from '#platform/activity-file.ts';
import type { AuditTables, Doer } from '#platform/audit.ts';
import type { KeptAnswers } from '#platform/kept-answers.ts';
import { originOf } from '#platform/origin.ts';
import { countPages, nextPage } from '#platform/page.ts';
import { Problem } from '#platform/problem.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Session } from '#platform/session.ts';
import { type IceServers, iceOf } from './ice.ts';
import { refuse } from './remote.refusals.ts';
import type { Remote } from './remote.ts';
import { auditOf } from './session-audit.ts';
import type { SessionMessages } from './session-messages.ts';
import { isClaimed, isOpen, type Row } from './session-state.ts';

const MINUTE_MS = 60_000;

/** The customer's devices, which measure changes during a session. */
export interface SessionDevices {
  /** Never rejects: a failed session start only lacks the measurement. */
  begin(session: { id: string; user_id: string }): Promise<void>;
  read(session_id: string): Promise<DeviceChanges[]>;
}

export function serveRemote(
  api: Api,
  parts: {
    remote: Remote;
    messages: SessionMessages;
    ice: IceServers;
    changes: SessionDevices;
    auditLog: Kysely<AuditTables>;
    /** Names and counts of a customer; `opened` logs each opening first. */
    customerCard: (user_id: string) => Promise<CustomerCard | undefined>;
    opened: (of: { user_id: string; session_id: string; by: Doer }) => Promise<void>;
    keptAnswers: Pick<KeptAnswers, 'keepList'>;
  },
): void {
  const { remote, messages, ice, changes, auditLog, customerCard, opened, keptAnswers } = parts;
  const own = { find: ({ id }: { id: string }) => remote.findOwn(id) };
  const joined = { find: ({ id }: { id: string }) => remote.findJoined(id) };
  const isParty = (me: UserInfo, row: Row) => row.user_id === me.id || (row.agent_id === me.id && may.joinSessions(me));
  const party = { find: ({ id }: { id: string }) => remote.find(id), may: isParty };
  const customers = { find: party.find, may: (me: UserInfo, row: Row) => row.user_id === me.id };
  const administrators = { find: party.find, may: may.administrate };

  const doer = ({ session, request }: { session: Session; request: FastifyRequest }): Doer => ({
    actor_id: session.user.id,
    origin: originOf(request),
  });
  const customer = (call: Parameters<typeof doer>[0]) => ({ ...doer(call), side: 'customer' as const });
  const technician = (call: Parameters<typeof doer>[0]) => ({ ...doer(call), side: 'technician' as const });

  const list = keptAnswers.keepList(listRemoteSessions, async ({ session, query, header, request }) => {
    const rows = await remote.list(session.user.id, query);
    await countPages({ rows, query, header, count: () => remote.count(session.user.id, query) });
    return nextPage({ query, request, header }, rows);
  });
  serve(api, listRemoteSessions, 'customer', list);

  serve(api, createSession, 'customer', ({ session }) => remote.create(session.user));
  serve(api, readSession, party, ({ session, row }) => Promise.resolve(remote.show(session.user, row)));
  serve(api, cancelSession, own, ({ row, ...call }) => remote.cancel(row.id, customer(call)));
  serve(api, completeSession, own, ({ row, ...call }) => remote.complete(row.id, customer(call)));
  serve(api, approveSession, own, async ({ row, body, ...call }) => {
    const session = await remote.approve(row.id, body.view, customer(call));
    await changes.begin(row);
    return session;
  });
  serve(api, declineSession, own, ({ row, ...call }) => remote.decline(row.id, customer(call)));
  serve(api, reaffirmSession, own, ({ row, ...call }) => remote.reaffirm(row.id, customer(call)));
  serve(api, reportSession, own, ({ row, body, ...call }) => remote.report(row.id, body, customer(call)));
  serve(api, grantInSession, own, ({ row, body, ...call }) => remote.grant(row.id, body, customer(call)));
  serve(api, revokeInSession, party, ({ row, body, session, request }) =>
    row.user_id === session.user.id
      ? remote.revoke(row.id, body.grant, { why: 'customer' }, customer({ session, request }))
      : remote.revoke(row.id, body.grant, { why: 'technician' }, technician({ session, request })),
  );
  serve(api, rateSession, own, ({ row, body }) => remote.rate(row.id, body));

  serve(api, readIce, party, ({ session, row }) => {
    const side = row.user_id === session.user.id ? 'customer' : 'technician';
    // The asked customer reads it while choosing what to show; the technician after the customer has agreed.
    const begun_at = row.approved_at ?? (side === 'customer' && isClaimed(row) ? row.joined_at : null);
    if (!isOpen(row) || begun_at === null) throw refuse('remote_session.not_running');
    // The longest session, plus a margin for clock differences and for a customer who is still choosing.
    const more = row.approved_at === null ? SESSION_LIMITS.consent_longest : MINUTE_MS;
    const until = Date.parse(begun_at) + SESSION_LIMITS.longest + more;
    return Promise.resolve(iceOf(ice, { session_id: row.id, side, until }));
  });

  serve(api, listSessionMessages, party, ({ row, query }) => messages.list(row.id, query.after));
  serve(api, writeSessionMessage, party, ({ session, row, body }) => messages.write(session.user, row, body));

  serve(api, readSessionChanges, customers, ({ row }) => changes.read(row.id));
  async function auditEntries(row: Row): Promise<Activity[]> {
    const entries: Activity[] = [];
    for await (const entry of auditOf(auditLog, row)) entries.push(entry);
    return entries;
  }

  serve(api, listSessionAudit, customers, ({ row }) => auditEntries(row));
  serve(api, exportSessionAudit, customers, ({ row, query: { format }, header }) =>
    Promise.resolve(activityFile(auditOf(auditLog, row), { name: 'palisade-remote-session', format, header })),
  );

  serve(api, joinSession, 'support', ({ session, body, request }) =>
    remote.join(session.user, body.session_code, technician({ session, request })),
  );

  serve(api, listJoined, 'support', async ({ session, query, header, request }) => {
    const rows = await remote.listJoined(session.user.id, query);
    await countPages({ rows, query, header, count: () => remote.countJoined(session.user.id, query) });
    return nextPage({ query, request, header }, rows);
  });

  serve(api, completeJoined, joined, ({ row, ...call }) => remote.complete(row.id, technician(call)));
  serve(api, writeNotes, joined, ({ row, body }) => remote.writeNotes(row.id, body.notes));

  serve(api, readSessionCustomer, { find: party.find, may: (me: UserInfo, row: Row) => row.agent_id === me.id }, async (call) => {
    const { session, request, row } = call;
    if (row.status !== 'active') throw refuse('remote_session.details_only_during');
    const card = await customerCard(row.user_id);
    if (card === undefined) throw new Problem('not_found');
    // First written down, then shown.
    await opened({ user_id: row.user_id, session_id: row.id, by: doer({ session, request }) });
    return card;
  });

  serve(api, listOverseenSessions, 'admin', async ({ query, header, request }) => {
    const rows = await remote.listOverseen(query);
    await countPages({ rows, query, header, count: () => remote.countOverseen(query) });
    return nextPage({ query, request, header }, rows);
  });
  serve(api, listOverseenAudit, administrators, ({ row }) => auditEntries(row));
  serve(api, endOverseenSession, administrators, ({ row, ...call }) =>
    remote.endOverseen(row.id, { ...doer(call), side: 'administrator' }),
  );
}
