import { readHistory, readLastCheck, scanPosture } from '@palisade/contract/anti-hacking';
import { type Api, serve } from '#platform/serve.ts';
import { sentence } from './posture.refusals.ts';
import type { Posture } from './posture.ts';

export function servePosture(api: Api, posture: Posture): void {
  serve(api, readHistory, 'premium', async ({ session, query }) => {
    return await posture.history(session.user.id, query.days, query.time_zone.name);
  });

  serve({ ...api, premium_sentence: sentence('security_check.needs_premium') }, scanPosture, 'premium', async ({ session }) => {
    return await posture.scan(session.user.id);
  });

  serve(api, readLastCheck, 'premium', async ({ session }) => {
    return { last: await posture.lastCheck(session.user.id) };
  });
}
