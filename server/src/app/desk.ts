import type { LiveEvent } from '@palisade/contract/events';
import { may } from '@palisade/contract/may';
import { displayName } from '@palisade/scanner/filename';
import { type Kysely, sql } from 'kysely';
import { createAnswerAddresses } from '#features/chat/answer-address.ts';
import { createArrivedMails } from '#features/chat/arrived-mails.ts';
import { serveAttachments } from '#features/chat/attachments.routes.ts';
import { createAttachments } from '#features/chat/attachments.ts';
import { createCanned } from '#features/chat/canned.ts';
import { serveChat } from '#features/chat/chat.routes.ts';
import type { ChatTables } from '#features/chat/chat.tables.ts';
import { type Chat, createChat, type Things } from '#features/chat/chat.ts';
import { type Conversations, createConversations } from '#features/chat/conversations.ts';
import { serveDesk } from '#features/chat/desk.routes.ts';
import { createDesk, type Desk } from '#features/chat/desk.ts';
import { createDeskNews } from '#features/chat/desk-news.ts';
import { readDeskSettings, writeDeskSettings } from '#features/chat/desk-settings.ts';
import { keepUnforgotten } from '#features/chat/forgotten.ts';
import { keepInbox } from '#features/chat/inbox.ts';
import { createLetters } from '#features/chat/letters.ts';
import { createMailAnswers } from '#features/chat/mail-answers.ts';
import { readMailApart } from '#features/chat/mail-reader.ts';
import { createReports } from '#features/chat/reports.ts';
import { createTeam, type Team } from '#features/chat/team.ts';
import type { Devices } from '#features/devices/devices.ts';
import type { Firewall } from '#features/firewall/firewall.ts';
import { serveHelp } from '#features/help/help.routes.ts';
import { createHelp } from '#features/help/help.ts';
import type { Remote } from '#features/remote/remote.ts';
import { sharedCheck } from '#features/scam-check/scam-check.ts';
import type { Subscriptions } from '#features/subscriptions/subscriptions.ts';
import type { Audit } from '#platform/audit.ts';
import { logFailure } from '#platform/database-patience.ts';
import type { DeskTopics } from '#platform/desk-topics.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { KeptAnswers } from '#platform/kept-answers.ts';
import { createMemoryPresence } from '#platform/presence/memory-presence.ts';
import { createRedisPresence } from '#platform/presence/redis-presence.ts';
import type { ScannedFiles } from '#platform/scanned-files.ts';
import type { Api } from '#platform/serve.ts';
import type { Tables } from '#platform/tables.ts';
import type { Topics } from '#platform/topics/topics.ts';
import type { Accounts } from './accounts.ts';
import type { AppOptions } from './app-options.ts';
import { administrationOf, customerCardOf } from './customer-card.ts';
import type { RestrainedMail } from './letters.ts';
import type { Monitor } from './monitor.ts';
import { isInDanger, peopleInDanger } from './people.ts';
import type { BuiltScamCheck } from './scam-check.ts';
import type { Scanner } from './scanner.ts';

const fact = (name: string, value: string | number | null | undefined) =>
  value === null || value === undefined || value === '' ? [] : [{ name, value: String(value) }];

/** Readers of the records that customers can share in a conversation. */
function thingsOf({
  scanner,
  monitor,
  firewall,
  devices,
  scamChecks,
}: {
  scamChecks: Pick<BuiltScamCheck, 'find'>;
  devices: Pick<Devices, 'find' | 'read'>;
  scanner: Scanner;
  monitor: Pick<Monitor, 'alerts'>;
  firewall: Firewall;
}): Things {
  return {
    async scan(user_id, id) {
      const row = await scanner.antivirus.find(id);
      if (row?.user_id !== user_id) return undefined;
      return {
        title: row.filename,
        facts: [
          ...fact('Status', row.scan_status),
          ...fact('Why', row.status_detail),
          ...fact('Found', row.threat_detected),
          ...fact('In', row.threat_member),
          ...fact('Scanned', row.scanned_at),
          ...fact('Size in bytes', row.size),
          ...fact('SHA-256', row.file_hash),
        ],
      };
    },

    async alert(user_id, id) {
      const row = await monitor.alerts.find(id);
      if (row?.user_id !== user_id) return undefined;
      return {
        title: row.description,
        facts: [
          ...fact('Type', row.threat_type),
          ...fact('Severity', row.severity),
          ...fact('Status', row.status),
          ...fact('Outcome', row.outcome),
          ...fact('Times', row.count),
          ...fact('First', row.created_at),
          ...fact('Last', row.last_seen),
          ...fact('From', row.ip_address),
        ],
      };
    },

    async device(user_id, id) {
      const row = await devices.find(id);
      if (row?.user_id !== user_id) return undefined;
      const { device_name, hostname, agent_version, state, last_seen_at, enrolled_at, rules_count } = await devices.read(row);
      return {
        title: device_name,
        facts: [
          ...fact('Host', hostname),
          ...fact('State', state),
          ...fact('Last seen', last_seen_at),
          ...fact('Enrolled', enrolled_at),
          ...fact('Agent', agent_version),
          ...fact('Rules', rules_count),
        ],
      };
    },

    async scam_check(user_id, id) {
      const row = await scamChecks.find(id);
      return row?.user_id === user_id ? sharedCheck(row) : undefined;
    },

    async rule(user_id, id) {
      const row = await firewall.find(id);
      if (row?.user_id !== user_id) return undefined;
      return {
        title: row.rule_name,
        facts: [
          ...fact('Direction', row.direction),
          ...fact('Action', row.action),
          ...fact('Protocol', row.protocol),
          ...fact('Source', row.source_ip),
          ...fact('Destination', row.destination_ip),
          ...fact('Port', row.port),
          ...fact('Switched on', row.enabled === 1 ? 'yes' : 'no'),
        ],
      };
    },
  };
}

/** Topics with the events of conversations for staff pages. */
function deskTopics(of: { conversations: Conversations; team: Team; chat: Chat; desk: Desk }): DeskTopics {
  const { conversations, team, chat, desk } = of;
  return {
    mayHearStaff: may.useDesk,
    async find(me, conversation_id) {
      const row = await conversations.find(conversation_id);
      return row !== undefined && may.serve(me, row) ? row : undefined;
    },
    arrive: (me, place) => team.arrive(me, place),
    open: (me, conversation, place) => team.open(me, conversation, place),
    async typing(me, conversation_id) {
      if (conversation_id === null) return await chat.typing(me);
      const row = await conversations.find(conversation_id);
      if (row !== undefined && may.serve(me, row)) desk.typing(me, row);
    },
  };
}

interface DeskParts {
  database: Kysely<Tables>;
  audit: Audit;
  mail: RestrainedMail;
  jobs: Jobs;
  topics: Topics;
  kept: Pick<KeptAnswers, 'keep' | 'told'>;
  tell: (user_id: string, event: LiveEvent) => void;
  accounts: Accounts;
  scanner: Scanner;
  monitor: Monitor;
  subscriptions: Subscriptions;
  firewall: Firewall;
  devices: Pick<Devices, 'find' | 'read' | 'living'>;
  remote: Remote;
  scamChecks: Pick<BuiltScamCheck, 'find'>;
  /** Called when a customer has received an answer. */
  onAnswer: (user_id: string) => Promise<void>;
  /** Scans and stores chat attachments. */
  files: ScannedFiles;
  /** Key for sealing attachments. A key derived from it makes the conversation ids in mail addresses. */
  key: Buffer;
  now: () => number;
}

/** Serves chat, desk, attachments, and help pages. */
function serveDeskFeatures(
  api: Api,
  { database, audit, kept, subscriptions, monitor }: DeskParts,
  built: {
    chat: Chat;
    letters: ReturnType<typeof createLetters>;
    desk: Desk;
    team: Team;
    canned: ReturnType<typeof createCanned>;
    reports: ReturnType<typeof createReports>;
    customerCard: (user_id: string) => ReturnType<typeof customerCardOf>;
    conversations: Conversations;
    mails: ReturnType<typeof createArrivedMails>;
    answers: ReturnType<typeof createMailAnswers>;
    attachments: ReturnType<typeof createAttachments>;
    help: ReturnType<typeof createHelp>;
  },
): void {
  const { chat, letters, desk, team, canned, reports, customerCard, conversations, mails, answers, attachments, help } = built;
  const installation = database.$pickTables<'installation'>();
  serveChat(api, chat, letters, kept);
  serveDesk(api, {
    desk,
    keptAnswers: kept,
    team,
    canned,
    reports,
    customerCard,
    conversationOf: (user_id) => conversations.ofCustomer(user_id),
    administrationOf: (user_id) => administrationOf({ subscriptions, monitor }, user_id),
    mails,
    mailAnswers: answers,
    settings: {
      read: () => readDeskSettings(installation),
      write: (written) => writeDeskSettings(installation, written),
    },
    record: (kind, { subject_id, actor_id, origin, details = {} }) =>
      audit.record(database.$pickTables<'audit_entries' | 'audit_head'>(), { kind, subject_id, actor_id, origin, details }),
  });
  serveAttachments(api, attachments);
  serveHelp(api, help);
}

/** Builds the mails to customers about unread answers. */
function buildLetters(
  { settings, logger, unread_answer_ms }: AppOptions,
  { database, mail, jobs, accounts }: DeskParts,
  built: { conversations: Conversations; addresses: ReturnType<typeof createAnswerAddresses> | undefined },
) {
  return createLetters({
    ...built,
    database: database.$pickTables<keyof ChatTables | 'jobs' | 'mails' | 'installation'>(),
    mail,
    jobs,
    people: accounts.auth,
    public_url: settings.public_url,
    onFailure: (error) => logFailure(logger, error, 'could not email a customer about a reply'),
    unread_ms: unread_answer_ms,
  });
}

/** Notifies the customer of an answer: the browser at once, and by mail after a delay. */
function tellOfAnswers(parts: {
  conversations: Conversations;
  letters: ReturnType<typeof createLetters>;
  logger: AppOptions['logger'];
  onAnswer: DeskParts['onAnswer'];
}): (conversation_id: string) => void {
  const { conversations, letters, logger, onAnswer } = parts;
  return (conversation_id) => {
    letters.answered(conversation_id);
    conversations
      .find(conversation_id)
      .then((row) => row && onAnswer(row.user_id))
      .catch((error: unknown) => logFailure(logger, error, 'a browser could not be told of an answer'));
  };
}

/** Opens the presence of staff: shared by all servers with Redis, otherwise local to this server. */
async function openPresence({ settings, logger }: AppOptions) {
  const memory = createMemoryPresence();
  if (settings.redis_url === undefined) return memory;
  return await createRedisPresence({ url: settings.redis_url, meanwhile: memory, logger });
}

/** Readers of customers' accounts and of their danger state. */
function customersOf(database: Kysely<Tables>, people: Accounts['auth']) {
  return {
    findUser: (id: string) => people.findUser(id),
    findUsers: (ids: readonly string[]) => people.findUsers(ids),
    matching: (search: string) => people.matching(search),
    inDanger: (ids: readonly string[]) => peopleInDanger(database, ids),
    isInDanger: () => sql<boolean>`exists (select 1 from users where users.id = conversations.user_id and ${isInDanger()})`,
  };
}

/** Data of other features that the chat reads. */
function readsOf({ antivirus }: DeskParts['scanner'], reports: Pick<ReturnType<typeof createReports>, 'response'>) {
  return {
    hasInfection: async (user_id: string) => (await antivirus.counts(user_id)).open.count > 0,
    response_s: () => reports.response(),
  };
}

/** Builds the support desk: customer chat, staff functions, help pages, and reminders of unanswered conversations. */
export async function buildDesk(appOptions: AppOptions, parts: DeskParts) {
  const { settings, logger } = appOptions;
  const { database, jobs, topics, kept, tell, accounts, scanner, monitor, subscriptions, firewall } = parts;
  const { devices, remote, now } = parts;
  const chatTables = database.$pickTables<keyof ChatTables>();
  const withInstallation = database.$pickTables<keyof ChatTables | 'installation'>();
  const installation = database.$pickTables<'installation'>();
  const people = accounts.auth;
  const customers = customersOf(database, people);
  const presence = await openPresence(appOptions);
  const onChange = (user_id: string) => tell(user_id, { kind: 'changed', topic: 'messages' });
  const conversations = createConversations({ database: chatTables, now });
  const news = createDeskNews({ database: chatTables, topics, people: customers, jobs, kept, logger });
  const team = createTeam({
    database: chatTables,
    presence,
    news,
    topics,
    now,
    logger,
    staff: () => people.staff(),
    pause_ms: appOptions.presence_pause_ms,
  });
  const help = createHelp({ database: database.$pickTables<'help_articles' | 'installation'>(), now });
  await help.seed();
  const reports = createReports({ database: chatTables, people: customers, settings: () => readDeskSettings(installation), now });
  const addresses = settings.inbox && createAnswerAddresses({ address: settings.inbox.address, key: parts.key });
  const letters = buildLetters(appOptions, parts, { conversations, addresses });
  const things = thingsOf({ scanner, monitor, firewall, devices, scamChecks: parts.scamChecks });
  const chat = createChat({
    database: withInstallation,
    conversations,
    news,
    team,
    things,
    onChange,
    now,
    articles: help,
    ...readsOf(scanner, reports),
  });
  const desk = createDesk({
    database: chatTables,
    conversations,
    news,
    team,
    people: customers,
    things,
    remote,
    onChange,
    now,
    onAnswer: tellOfAnswers({ conversations, letters, logger, onAnswer: parts.onAnswer }),
  });
  const canned = createCanned({ database: chatTables, now });
  keepUnforgotten({ database: withInstallation, conversations, news, team, jobs, now, logger });

  const card = { people, subscriptions, monitor, scanner, devices, remote, conversations: chatTables, webDevices: database };
  const customerCard = (user_id: string) => customerCardOf(card, user_id);
  const attachments = createAttachments({
    database: chatTables,
    tell,
    jobs,
    now,
    files: parts.files,
    nameOf: displayName,
    onForgotten: (conversation_id) => news.removed(conversation_id),
  });
  const mails = createArrivedMails({ database: chatTables, files: parts.files, now });
  const reading = { authserv_id: settings.inbox?.authserv_id, zone: appOptions.mail_zone };
  const read = appOptions.read_mail ?? ((raw: Uint8Array) => readMailApart(raw, reading));
  const answers = createMailAnswers({ database: chatTables, conversations, news, attachments, mails, onChange, read, logger });
  if (settings.inbox && addresses)
    keepInbox({
      database: withInstallation,
      url: settings.inbox.url,
      addresses,
      conversations,
      answers,
      mails,
      news,
      people,
      read,
      open: appOptions.open_mailbox,
      onChange,
      jobs,
      now,
      logger,
    });

  return {
    topics: deskTopics({ conversations, team, chat, desk }),
    forgetPerson: (transaction: Kysely<ChatTables>, user_id: string) => attachments.forgetPerson(transaction, user_id),
    forgetOld: (closed_before: string) => attachments.forgetOld(closed_before),
    forgetReadMails: mails.forgetRead,
    customerCard,
    countUnanswered: (user_id: string) => desk.countUnanswered({ id: user_id }),

    serve: (api: Api) =>
      serveDeskFeatures(api, parts, {
        chat,
        letters,
        desk,
        team,
        canned,
        reports,
        customerCard,
        conversations,
        mails,
        answers,
        attachments,
        help,
      }),

    async close(): Promise<void> {
      await attachments.close();
      await team.close();
      await news.close();
      presence.close();
    },
  };
}
