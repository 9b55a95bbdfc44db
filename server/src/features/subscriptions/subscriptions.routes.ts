import { currentSubscription } from '@palisade/contract/current-subscription';
import {
  assignSubscription,
  cancelSubscription,
  changeTemplate,
  createTemplate,
  declinePlanRequest,
  deleteTemplate,
  listAllPlanRequests,
  listPlanRequests,
  listPlans,
  listSubscriptions,
  listTemplates,
  readAnswerTime,
  requestPlan,
  withdrawPlanRequest,
} from '@palisade/contract/subscription';
import { originOf } from '#platform/origin.ts';
import { nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { PlanRequestRow, PlanRequests } from './plan-requests.ts';
import type { Subscriptions } from './subscriptions.ts';

const DONE = { success: true } as const;

export function serveSubscriptions(api: Api, subscriptions: Subscriptions, requests: PlanRequests): void {
  serve(api, listSubscriptions, 'admin', async (call) => nextPage(call, await subscriptions.list(call.query)));

  serve(api, assignSubscription, 'admin', async ({ session, body, request }) => ({
    ...DONE,
    subscription: await subscriptions.assign(body, { actor_id: session.user.id, origin: originOf(request) }),
  }));

  serve(api, cancelSubscription, 'admin', async ({ session, body, request }) => {
    await subscriptions.cancel(body.subscription_id, { actor_id: session.user.id, origin: originOf(request) });
    return DONE;
  });

  serve(api, listTemplates, 'admin', async (call) => nextPage(call, await subscriptions.listTemplates(call.query)));

  serve(api, createTemplate, 'admin', async ({ body }) => ({ ...DONE, template: await subscriptions.createTemplate(body) }));

  serve(api, changeTemplate, 'admin', async ({ body }) => ({ ...DONE, template: await subscriptions.changeTemplate(body) }));

  serve(api, deleteTemplate, 'admin', async ({ body }) => {
    await subscriptions.deleteTemplate(body.template_id);
    return DONE;
  });

  serve(api, listAllPlanRequests, 'admin', async (call) => nextPage(call, await requests.listOpen(call.query)));

  serve(api, declinePlanRequest, 'admin', async ({ body }) => {
    await requests.close(body.request_id, 'declined');
    return DONE;
  });

  serve(api, currentSubscription, 'customer', ({ session }) => subscriptions.current(session.user.id));

  serve(api, listPlans, 'customer', async (call) => nextPage(call, await subscriptions.listTemplates(call.query)));

  serve(api, listPlanRequests, 'customer', async (call) => nextPage(call, await requests.list(call.session.user.id, call.query)));

  serve(api, readAnswerTime, 'customer', () => requests.answerTime());

  serve(api, requestPlan, 'customer', ({ session, body }) => requests.open(session.user.id, body.template_id));

  serve<typeof withdrawPlanRequest, PlanRequestRow>(
    api,
    withdrawPlanRequest,
    { find: ({ id }) => requests.find(id) },
    ({ row }) => requests.close(row.id, 'withdrawn'),
  );
}
