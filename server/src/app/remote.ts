import type { CustomerCard } from '@palisade/contract/desk';
import { displayName } from '@palisade/scanner/filename';
import type { FastifyInstance } from 'fastify';
import type { Kysely } from 'kysely';
import type { MeasuredSessions } from '#features/devices/measured-sessions.ts';
import { serveControl as serveControlSockets } from '#features/remote/control-sockets.ts';
import { serveRemote } from '#features/remote/remote.routes.ts';
import type { RemoteTables } from '#features/remote/remote.tables.ts';
import { createRemote } from '#features/remote/remote.ts';
import { createSeats, type Seats } from '#features/remote/seats.ts';
import { serveSessionFiles } from '#features/remote/session-files.routes.ts';
import { createSessionFiles, type SessionFiles } from '#features/remote/session-files.ts';
import { createSessionMessages } from '#features/remote/session-messages.ts';
import { tellOfSessions } from '#features/remote/session-news.ts';
import type { GrantDevice } from '#features/remote/session-rows.ts';
import type { Audit } from '#platform/audit.ts';
import type { Counters } from '#platform/counters.ts';
import { logFailure } from '#platform/database-patience.ts';
import type { Incident } from '#platform/incident.ts';
import { readProvider } from '#platform/installation.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { KeptAnswers } from '#platform/kept-answers.ts';
import type { ScannedFiles } from '#platform/scanned-files.ts';
import type { Api } from '#platform/serve.ts';
import type { Sessions } from '#platform/session.ts';
import type { Tables } from '#platform/tables.ts';
import { sessionTopic, type Topics } from '#platform/topics/topics.ts';
import type { Accounts } from './accounts.ts';
import type { AppOptions } from './app-options.ts';
import type { RestrainedMail } from './letters.ts';

interface RemoteParts {
  database: Kysely<Tables>;
  audit: Audit;
  jobs: Jobs;
  counters: Counters;
  mail: RestrainedMail;
  topics: Topics;
  people: () => Accounts['auth'];
  raise: (incident: Incident) => Promise<void>;
  changed: (user_id: string) => void;
  /** Finds a person's device, with the reason if its screen cannot be shared now. */
  findDevice: (user_id: string, device_id: string) => Promise<GrantDevice | undefined>;
  nudgeDevice: (device_id: string) => void;
  /** A function, because devices are built after sessions. */
  measuredSessions: () => MeasuredSessions;
  keptAnswers: Pick<KeptAnswers, 'keepList'>;
  now: () => number;
}

/** Builds remote support: sessions, the participating pages, and their events. Parts that are built later are passed as functions. */
export function buildRemote({ settings, logger }: AppOptions, parts: RemoteParts) {
  const { database, audit, jobs, counters, mail, topics, people, raise, changed, findDevice, nudgeDevice } = parts;
  const { measuredSessions, keptAnswers, now } = parts;
  const tables = database.$pickTables<keyof RemoteTables>();
  const auditTables = database.$pickTables<'audit_entries' | 'audit_head'>();
  let seats: Seats | undefined;
  const remote = createRemote({
    database: database.$pickTables<keyof RemoteTables | 'audit_entries' | 'audit_head' | 'jobs'>(),
    audit,
    jobs,
    counters,
    now,
    people: {
      findUser: (id) => people().findUser(id),
      staffSince: (id) => people().staffSince(id),
      provider: async () => (await readProvider(database.$pickTables<'installation'>())).provider_name,
    },
    onLive: (session) => topics.publish(sessionTopic(session.id), { kind: 'remote_changed', session }),
    onChange: changed,
    onGrants: nudgeDevice,
    findDevice,
    isHere: (seat) => seats?.isHere(seat) ?? false,
  });
  seats = createSeats({ database: tables, remote, topics, logger, now });
  const messages = createSessionMessages({
    database: tables,
    onMessage: (message) => topics.publish(sessionTopic(message.session_id), { kind: 'remote_message', message }),
    now,
  });
  tellOfSessions({
    database: database.$pickTables<keyof RemoteTables | 'mails' | 'installation' | 'jobs'>(),
    jobs,
    mail,
    raise,
    public_url: settings.public_url,
    measure: (session_id) => measuredSessions().end(session_id),
    people: { findUser: (id) => people().findUser(id), administrators: () => people().administrators() },
  });

  return {
    remote,
    seats,

    /** Ends a person's participation in sessions when they lose the right to it. */
    watch(sessions: Pick<Sessions, 'onChange'>): () => void {
      return sessions.onChange((user_id) => {
        remote
          .accessChanged(user_id)
          .catch((error: unknown) => logFailure(logger, error, 'could not end sessions after a change of access'));
      });
    },

    /** To be called after `openSockets`. */
    serveControl(
      fastify: FastifyInstance,
      sessions: Pick<Sessions, 'resolve' | 'onEnd'>,
      authenticate: Parameters<typeof serveControlSockets>[1]['authenticate'],
    ): { close(): void } {
      return serveControlSockets(fastify, {
        remote,
        topics,
        sessions,
        authenticate,
        opening: { rate: settings.limits['sockets.source'], counters },
        public_url: settings.public_url,
      });
    },

    /** Sets the storage of files between the two sides, which are scanned. To be called after the scanner is built. */
    keepFiles(files: ScannedFiles): SessionFiles {
      return createSessionFiles({
        database: tables,
        remote,
        files,
        jobs,
        now,
        nameOf: displayName,
        onChange: changed,
      });
    },

    serve(api: Api, files: SessionFiles, customerCard: (user_id: string) => Promise<CustomerCard | undefined>): void {
      serveSessionFiles(api, { remote, files });
      serveRemote(api, {
        remote,
        messages,
        customerCard,
        ice: settings.turn,
        changes: {
          begin: (session) =>
            measuredSessions()
              .begin(session)
              .catch((error: unknown) =>
                logFailure(logger, error, 'could not ask devices for their state before a remote session'),
              ),
          read: (session_id) => measuredSessions().read(session_id),
        },
        auditLog: auditTables,
        keptAnswers,
        opened: ({ user_id: subject_id, session_id, by }) =>
          audit.record(auditTables, {
            kind: 'customer_card_opened',
            subject_id,
            ...by,
            details: { session_id, side: 'technician' },
          }),
      });
    },
  };
}
