import { type Overview, readOverview } from '@palisade/contract/overview';
import type { KeptAnswers } from '#platform/kept-answers.ts';
import { type Api, serve } from '#platform/serve.ts';

type Counts = { [Key in keyof Overview['waiting']]: () => Promise<number> };
type Steps = { [Key in keyof Overview['first_steps']]: (user_id: string) => Promise<boolean> };

/** Tells administrators what waits for them. Each part's count is passed in by its owner. */
export function serveOverview(api: Api, waiting: Counts, first_steps: Steps, kept: Pick<KeptAnswers, 'keep'>): void {
  const answer = kept.keep(readOverview, async ({ id }) => {
    const [plan_requests, false_alarms, mails, jobs, provider, second_factor, first_scan, others] = await Promise.all([
      waiting.plan_requests(),
      waiting.false_alarms(),
      waiting.mails(),
      waiting.jobs(),
      first_steps.provider(id),
      first_steps.second_factor(id),
      first_steps.first_scan(id),
      first_steps.others(id),
    ]);
    return {
      waiting: { plan_requests, false_alarms, mails, jobs },
      first_steps: { provider, second_factor, first_scan, others },
    };
  });
  serve(api, readOverview, 'admin', ({ session }) => answer(session.user));
}
