import { Readable } from 'node:stream';
import {
  answerConversation,
  assignConversation,
  changeCanned,
  changeDeskSettings,
  claimConversation,
  closeConversation,
  createCanned,
  type DeskSettings,
  deleteCanned,
  deskTranscript,
  downloadMail,
  exportReport,
  listCanned,
  listDeskMessages,
  markConversationRead,
  type ReadSettings,
  readConversation,
  readCustomerCard,
  readDeskSettings,
  readReport,
  readShared,
  reopenConversation,
  snoozeConversation,
  sortConversation,
  startRemoteSession,
  takeMail,
} from '@palisade/contract/desk';
import { readCounts } from '@palisade/contract/desk-counts';
import { listConversations } from '@palisade/contract/desk-list';
import { listTeam, setPresence } from '@palisade/contract/desk-team';
import { may } from '@palisade/contract/may';
import type { KeptAnswers } from '#platform/kept-answers.ts';
import { originOf } from '#platform/origin.ts';
import { countPages, nextPage } from '#platform/page.ts';
import { Problem } from '#platform/problem.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { ArrivedMails } from './arrived-mails.ts';
import type { Canned } from './canned.ts';
import type { Desk } from './desk.ts';
import type { MailAnswers } from './mail-answers.ts';
import { type PersonParts, servePersonRecord } from './person-record.routes.ts';
import type { ConversationRow } from './records.ts';
import type { Reports } from './reports.ts';
import type { Team } from './team.ts';
import { transcriptOf } from './transcript.ts';

async function* transcript(desk: Desk, row: ConversationRow, customer: string) {
  yield '\uFEFF';
  for await (const message of desk.all(row)) yield transcriptOf(message, customer);
}

export function serveDesk(
  api: Api,
  parts: {
    desk: Desk;
    keptAnswers: Pick<KeptAnswers, 'keep'>;
    team: Team;
    canned: Canned;
    reports: Reports;
    settings: { read: () => Promise<ReadSettings>; write: (settings: DeskSettings) => Promise<void> };
    mails: Pick<ArrivedMails, 'find' | 'read'>;
    mailAnswers: Pick<MailAnswers, 'takeOver'>;
  } & PersonParts,
): void {
  const { desk, keptAnswers, team, canned, reports, settings, mails, mailAnswers, customerCard, record } = parts;
  const served = { find: ({ id }: { id: string }) => desk.find(id), may: may.serve };

  serve(api, listConversations, 'support', async ({ session, query, header, request }) => {
    const rows = await desk.list(session.user, query);
    await countPages({ rows, query, header, count: () => desk.count(session.user, query) });
    return nextPage({ query, request, header }, rows);
  });
  const counts = keptAnswers.keep(readCounts, (me) => desk.counts(me), { isOfStaff: true });
  serve(api, readCounts, 'support', ({ session }) => counts(session.user));
  serve(api, readConversation, served, ({ row }) => desk.show(row));
  serve(api, listDeskMessages, served, async ({ row, query, header, request }) => {
    const messages = await desk.messages(row, query);
    if (query.after === undefined) nextPage({ query, request, header }, messages);
    return messages;
  });
  serve(api, answerConversation, served, ({ session, row, body }) => desk.write(session.user, row, body));
  serve(api, markConversationRead, served, ({ row, body }) => desk.markRead(row, body.seq));
  serve(api, claimConversation, served, ({ session, row }) => desk.claim(session.user, row));
  serve(api, assignConversation, served, ({ session, row, body }) => desk.assign(session.user, row, body.assignee_id));
  serve(api, closeConversation, served, ({ session, row }) => desk.close(session.user, row));
  serve(api, reopenConversation, served, ({ session, row }) => desk.reopen(session.user, row));
  serve(api, snoozeConversation, served, ({ session, row, body }) => desk.snooze(session.user, row, body.until));
  serve(api, sortConversation, served, ({ row, body }) => desk.sort(row, body));
  serve(api, startRemoteSession, served, ({ session, row }) => desk.startRemoteSession(session.user, row));
  serve(api, deskTranscript, served, async ({ row, header }) => {
    const { customer } = await desk.show(row);
    header('content-type', 'text/plain; charset=utf-8');
    header('content-disposition', 'attachment; filename="conversation.txt"');
    return Readable.from(transcript(desk, row, customer));
  });

  const kept = {
    async find({ id }: { id: string }) {
      const mail = await mails.find(id);
      const conversation = mail && (await desk.find(mail.conversation_id));
      return mail && conversation && { mail, conversation };
    },
    may: (me: Parameters<typeof may.serve>[0], { conversation }: { conversation: ConversationRow }) =>
      may.serve(me, conversation),
  };
  serve(api, takeMail, kept, ({ session, row }) => mailAnswers.takeOver(session.user, row.mail, row.conversation));
  serve(api, downloadMail, kept, async ({ row, header }) => {
    header('content-type', 'application/octet-stream');
    header('content-disposition', 'attachment; filename="mail.eml"');
    return await mails.read(row.mail);
  });

  serve(api, readCustomerCard, served, async ({ session, row, request }) => {
    const card = await customerCard(row.user_id);
    if (card === undefined) throw new Problem('not_found');
    // Record in the audit log before showing it.
    const by = { subject_id: row.user_id, actor_id: session.user.id, origin: originOf(request) };
    await record('customer_card_opened', by);
    return card;
  });

  servePersonRecord(api, parts);

  const cards = {
    find: ({ id }: { id: string }) => desk.findMessage(id),
    may: (me: Parameters<typeof may.openShared>[0], row: { conversation: ConversationRow }) =>
      may.openShared(me, row.conversation),
  };
  serve(api, readShared, cards, async ({ session, row, request }) => {
    const shared = await desk.shared(row);
    const by = { subject_id: row.user_id, actor_id: session.user.id, origin: originOf(request) };
    await record('shared_thing_opened', { ...by, details: { thing: shared.thing, title: shared.title } });
    return shared;
  });

  serve(api, listTeam, 'support', () => team.list());
  serve(api, setPresence, 'support', ({ session, body }) => team.say(session.user, body.presence, body.by_hand));

  const answers = { find: ({ id }: { id: string }) => canned.find(id), may: may.administrate };
  serve(api, listCanned, 'support', () => canned.list());
  serve(api, createCanned, 'admin', ({ body }) => canned.create(body));
  serve(api, changeCanned, answers, ({ row, body }) => canned.change(row.id, body));
  serve(api, deleteCanned, answers, ({ row }) => canned.remove(row.id));

  serve(api, readDeskSettings, 'support', () => settings.read());
  serve(api, changeDeskSettings, 'admin', async ({ session, body, request }) => {
    await settings.write(body);
    const by = { subject_id: session.user.id, actor_id: session.user.id, origin: originOf(request) };
    await record('desk_settings_changed', { ...by, details: { time_zone: body.time_zone } });
    return body;
  });

  serve(api, readReport, 'admin', ({ query }) => reports.read(query));
  serve(api, exportReport, 'admin', ({ query, header }) => {
    header('content-type', 'text/csv; charset=utf-8');
    header('content-disposition', 'attachment; filename="palisade-support.csv"');
    return Promise.resolve(Readable.from(reports.csv(query)));
  });
}
