import { type Overview, readOverview } from '@palisade/contract/overview';
import type { KeptAnswers } from '#platform/kept-answers.ts';
import { type Api, serve } from '#platform/serve.ts';

/** One SQL statement each. `user_id` is the reader's. */
type Counts = { [Key in keyof Overview['waiting']]: (user_id: string) => Promise<number> };
type Steps = { [Key in keyof Overview['first_steps']]: (user_id: string) => Promise<boolean> };

/** Shows administrators their waiting work. Each part's count is passed in by its owner. */
export function serveOverview(
  api: Api,
  { waiting, first_steps, isMailConnected }: { waiting: Counts; first_steps: Steps; isMailConnected: () => boolean },
  kept: Pick<KeptAnswers, 'keep'>,
): void {
  const read = async ({ id }: { id: string }): Promise<Overview> => {
    const [conversations, remote_requests, plan_requests, plans_ending, jobs, unproven, false_alarms, mails] = await Promise.all([
      waiting.conversations(id),
      waiting.remote_requests(id),
      waiting.plan_requests(id),
      waiting.plans_ending(id),
      waiting.jobs(id),
      waiting.unproven(id),
      waiting.false_alarms(id),
      waiting.mails(id),
    ]);
    const [provider, second_factor, first_scan, others] = await Promise.all([
      first_steps.provider(id),
      first_steps.second_factor(id),
      first_steps.first_scan(id),
      first_steps.others(id),
    ]);
    return {
      waiting: { conversations, remote_requests, plan_requests, plans_ending, jobs, false_alarms, mails, unproven },
      is_mail_connected: isMailConnected(),
      first_steps: { provider, second_factor, first_scan, others },
    };
  };
  // Conversations are among the counts.
  const answer = kept.keep(readOverview, read, { isOfStaff: true });
  serve(api, readOverview, 'admin', ({ session }) => answer(session.user));
}
