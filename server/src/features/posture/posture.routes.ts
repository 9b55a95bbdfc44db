import { readHistory, readLastCheck, scanPosture } from '@palisade/contract/anti-hacking';
import type { RequirePremium } from '#platform/premium.ts';
import { type Api, serve } from '#platform/serve.ts';
import { sentence } from './posture.refusals.ts';
import type { Posture } from './posture.ts';

export function servePosture(api: Api, posture: Posture, requirePremium: RequirePremium): void {
  serve(api, readHistory, 'customer', async ({ session, query }) => {
    await requirePremium(session.user.id);
    return await posture.history(session.user.id, query.days, query.time_zone.name);
  });

  serve(api, scanPosture, 'customer', async ({ session }) => {
    await requirePremium(session.user.id, sentence('security_check.needs_premium'));
    return await posture.scan(session.user.id);
  });

  serve(api, readLastCheck, 'customer', async ({ session }) => {
    await requirePremium(session.user.id);
    return { last: await posture.lastCheck(session.user.id) };
  });
}
