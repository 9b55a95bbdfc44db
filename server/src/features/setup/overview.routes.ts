import { type Overview, readOverview } from '@palisade/contract/overview';
import { type Api, serve } from '#platform/serve.ts';

type Counts = { [Key in keyof Overview['waiting']]: () => Promise<number> };
type Steps = { [Key in keyof Overview['first_steps']]: (user_id: string) => Promise<boolean> };

/** Shows administrators their waiting work. Each part's count is passed in by its owner. */
export function serveOverview(api: Api, waiting: Counts, first_steps: Steps): void {
  serve(api, readOverview, 'admin', async ({ session }) => {
    const { id } = session.user;
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
}
