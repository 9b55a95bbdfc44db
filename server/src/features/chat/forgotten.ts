import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { InstallationTables } from '#platform/installation.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { sentence } from './chat.phrases.ts';
import type { ChatTables } from './chat.tables.ts';
import type { Write } from './conversation-writes.ts';
import type { Conversations } from './conversations.ts';
import type { DeskNews } from './desk-news.ts';
import { readDeskSettings } from './desk-settings.ts';
import { opening } from './hours.ts';
import type { Team } from './team.ts';

const MINUTE_MS = 60_000;
const AT_ONCE = 200;
const EVERY_MS = 15_000;

const FORGOTTEN = jobKind({ name: 'desk_forgotten', payload: z.object({}), every_ms: EVERY_MS });

/** Returns forgotten conversations: those without an answer, or with an absent assignee, become unassigned; snoozed ones come back. Each gets a note with the reason. */
export function keepUnforgotten(parts: {
  database: Kysely<ChatTables & InstallationTables>;
  conversations: Conversations;
  news: Pick<DeskNews, 'told'>;
  team: Pick<Team, 'whoIsGone' | 'list'>;
  jobs: Pick<Jobs, 'handle'>;
  now: () => number;
  logger: FastifyBaseLogger;
}): void {
  const { database, conversations, news, team, jobs, now, logger } = parts;
  const before = (minutes: number) => new Date(now() - minutes * MINUTE_MS).toISOString();

  async function tell(write: Write | undefined, why: string): Promise<void> {
    if (write === undefined) return;
    logger.info({ conversation: write.conversation.id }, why);
    await news.told(write);
  }

  async function comeBack(): Promise<void> {
    const due = new Date(now()).toISOString();
    const rows = await database
      .selectFrom('conversations')
      .select('id')
      .where('status', '=', 'snoozed')
      .where('snoozed_until', '<=', due)
      .limit(AT_ONCE)
      .execute();
    for (const { id } of rows) {
      const write = await conversations.change(
        id,
        (row) => row.status === 'snoozed' && row.snoozed_until !== null && row.snoozed_until <= due,
        { status: 'open', snoozed_until: null, held_since: due },
        sentence('snooze.ended'),
      );
      await tell(write, 'reopened a snoozed conversation');
    }
  }

  async function giveBackUnanswered(minutes: number): Promise<void> {
    const long_ago = before(minutes);
    const rows = await database
      .selectFrom('conversations')
      .select('id')
      .where('status', '=', 'open')
      .where('assignee_id', 'is not', null)
      .where('waiting_since', '<', long_ago)
      // A recent assignee has their own time to answer.
      .where(({ or, eb }) => or([eb('held_since', 'is', null), eb('held_since', '<', long_ago)]))
      .limit(AT_ONCE)
      .execute();
    for (const { id } of rows) {
      const write = await conversations.change(
        id,
        ({ status, assignee_id, waiting_since, held_since }) =>
          status === 'open' && assignee_id !== null && (waiting_since ?? long_ago) < long_ago && (held_since ?? '') < long_ago,
        { assignee_id: null },
        sentence('assignment.no_reply', { minutes }),
      );
      await tell(write, 'returned an unanswered conversation to Unassigned');
    }
  }

  async function giveBackOfGone(minutes: number): Promise<void> {
    for (const { user_id, gone_since } of await team.whoIsGone()) {
      if (gone_since > before(minutes)) continue;
      const rows = await database
        .selectFrom('conversations')
        .select('id')
        .where('assignee_id', '=', user_id)
        .where('status', '!=', 'closed')
        .limit(AT_ONCE)
        .execute();
      for (const { id } of rows) {
        const write = await conversations.change(
          id,
          ({ assignee_id, status }) => assignee_id === user_id && status !== 'closed',
          { assignee_id: null },
          sentence('assignment.offline'),
        );
        await tell(write, 'returned an offline assignee’s conversation to Unassigned');
      }
    }
  }

  jobs.handle(FORGOTTEN, async () => {
    await comeBack();
    const settings = await readDeskSettings(database.$pickTables<'installation'>());
    await giveBackOfGone(settings.offline_minutes);
    // Outside support hours no answer is expected; waiting conversations are checked when the hours begin.
    if (opening(settings, now()).is_open) await giveBackUnanswered(settings.unanswered_minutes);
  });
}
