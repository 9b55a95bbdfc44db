import type { Topic } from '@palisade/contract/endpoint';
import type { Kysely } from 'kysely';
import type { AlertTables } from '#features/alerts/alerts.tables.ts';
import { forgetInKeys } from '#features/alerts/merging.ts';
import type { Antivirus } from '#features/antivirus/antivirus.ts';
import type { createAccountDeletion } from '#features/auth/account-deletion.ts';
import { accountKey } from '#features/auth/sign-in.ts';
import type { ChatTables } from '#features/chat/chat.tables.ts';
import type { DetectionTables } from '#features/detection/detection.tables.ts';
import { forgetFindingsOf } from '#features/detection/findings-store.ts';
import { forgetWindowsOf } from '#features/detection/windows-store.ts';
import type { RemoteTables } from '#features/remote/remote.tables.ts';
import type { Remote } from '#features/remote/remote.ts';
import type { SessionFiles } from '#features/remote/session-files.ts';
import type { WebProtectionTables } from '#features/web-protection/web-protection.tables.ts';
import { wipeDeleted } from '#platform/database.ts';
import type { Tables } from '#platform/tables.ts';
import type { buildDesk } from './desk.ts';
import type { Monitor } from './monitor.ts';
import type { buildWebProtection } from './web-protection.ts';

/**
 * Removes the data of an account outside its own rows (`PERSONAL_TABLES`): files, and mentions in other people's rows. Each step runs in the transaction that deletes
 * the account, and returns the work to do after the commit. Parts that are built later are passed as functions.
 */
export function whatIsForgotten(parts: {
  database: Kysely<Tables>;
  antivirus: Pick<Antivirus, 'forgetPerson'>;
  remote: Pick<Remote, 'forget'>;
  desk: () => Pick<Awaited<ReturnType<typeof buildDesk>>, 'forgetPerson'>;
  webProtection: () => Pick<Awaited<ReturnType<typeof buildWebProtection>>, 'forgetPerson'>;
  /** Notifies the open pages of a person that their records have changed. */
  changed: (user_id: string, topic: Topic) => void;
  sessionFiles: () => Pick<SessionFiles, 'forgetPerson'>;
  scores: () => Pick<Monitor['posture']['scores'], 'forget'>;
}): Parameters<typeof createAccountDeletion>[0]['forget'] {
  const { database, antivirus, remote, desk, webProtection, changed, sessionFiles, scores } = parts;
  return [
    (transaction, user_id) =>
      antivirus.forgetPerson(transaction.$extendTables<Pick<Tables, 'scans' | 'scan_counts' | 'quarantine_reports'>>(), user_id),
    (transaction, user_id) => desk().forgetPerson(transaction.$extendTables<Pick<Tables, keyof ChatTables>>(), user_id),
    async (transaction, user_id, email) => {
      const tables = transaction.$extendTables<Pick<Tables, keyof WebProtectionTables>>();
      const left = await webProtection().forgetPerson(user_id, email, tables.$pickTables<keyof WebProtectionTables>());
      return () => {
        for (const id of left) changed(id, 'devices');
        return Promise.resolve();
      };
    },
    async (transaction, user_id) => {
      const tables = transaction.$extendTables<Pick<Tables, keyof RemoteTables>>().$pickTables<keyof RemoteTables>();
      const removeFiles = await sessionFiles().forgetPerson(tables, user_id);
      const tell = await remote.forget(tables, user_id);
      return async () => {
        tell();
        await removeFiles();
      };
    },
    async (transaction, user_id, email) => {
      const tables = transaction.$extendTables<Pick<Tables, keyof DetectionTables>>();
      await forgetWindowsOf(tables, { user_id, account: accountKey(email) });
      await forgetFindingsOf(tables.$pickTables<'detection_findings'>(), user_id);
      await forgetInKeys(transaction.$extendTables<Pick<Tables, keyof AlertTables>>().$pickTables<keyof AlertTables>(), user_id);
      return () => Promise.resolve();
    },
    (_transaction, user_id) => Promise.resolve(() => Promise.resolve(scores().forget(user_id))),
    // Runs after all data of the account is deleted.
    () => Promise.resolve(async () => void (await wipeDeleted(database))),
  ];
}
