import { alertTitle } from '@palisade/contract/alert-advice';
import type { Status } from '@palisade/contract/status';
import type { Kysely } from 'kysely';
import { servePush } from '#features/push/push.routes.ts';
import { Push } from '#features/push/push.ts';
import { pushKeyOf } from '#features/push/web-push.ts';
import type { Counters } from '#platform/counters.ts';
import { logFailure } from '#platform/database-patience.ts';
import type { Incident } from '#platform/incident.ts';
import { readProvider } from '#platform/installation.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { Api } from '#platform/serve.ts';
import type { Tables } from '#platform/tables.ts';
import type { AppOptions } from './app-options.ts';

/** Builds the notices to browsers: of support answers, and of alerts of high or critical severity. */
export function buildPush(
  appOptions: AppOptions,
  parts: { database: Kysely<Tables>; jobs: Jobs; counters: Counters; key: Buffer; now: () => number },
) {
  const { settings, logger } = appOptions;
  const { database, jobs, counters, key, now } = parts;
  const installation = database.$pickTables<'installation'>();
  const push = new Push({
    database: database.$pickTables<'push_subscriptions' | 'jobs' | 'sessions' | 'users'>(),
    ...{ jobs, counters, now, logger },
    key: pushKeyOf(key),
    async subject() {
      const { support } = await readProvider(installation);
      if (support.email !== '') return `mailto:${support.email}`;
      return settings.public_url ?? 'https://localhost';
    },
    test_service: appOptions.push_service,
  });

  return {
    /** Tells a customer's browsers that support has answered. The words stay in the chat. */
    answered: (user_id: string) =>
      push.notify(user_id, { title: 'Support has answered', body: 'Open the chat to read it.', path: '/chat', tag: 'chat' }),

    /** Tells that a device stopped asking web protection. `profile_id`: of a person in a home. */
    silent: ({ id, user_id, name, profile_id }: { id: string; user_id: string; name: string; profile_id: string | null }) =>
      push.notify(user_id, {
        title: 'A device doesn’t use web protection now',
        body: `We see no website requests from ${name}. Check whether it’s switched off.`,
        path: profile_id === null ? `/web-protection?device=${id}` : '/household',
        tag: `web:${id}`,
      }),

    /** Tells a guardian that a person of their home asks for a website. The page names it. */
    asked: (user_id: string, { id, profile }: { id: string; profile: string }) =>
      push.notify(user_id, {
        title: 'May I?',
        body: `${profile} asks for a website. Open it to answer.`,
        path: '/household',
        tag: `ask:${id}`,
      }),

    /** Tells of a grave alert, at most once a day about the same. */
    alerted(incident: Incident, statusOf: (user_id: string) => Promise<Status>): void {
      const { user_id, severity, rule, key: about } = incident;
      if (severity !== 'high' && severity !== 'critical') return;
      const body = alertTitle({ ...incident, simulated: false });
      // It leads to what is dangerous now, which may be graver than this; a blocked attack is no step, and is seen from the dashboard.
      statusOf(user_id)
        .then(({ next }) =>
          push.notify(
            user_id,
            {
              title: 'Security alert',
              body,
              path: next?.is_danger ? next.fix_route : '/dashboard',
              tag: `${rule}:${about}`.slice(0, 100),
            },
            { daily: true },
          ),
        )
        .catch((error: unknown) => logFailure(logger, error, 'a browser could not be told of an alert'));
    },

    serve: (api: Api) => servePush(api, push),
  };
}
