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

/** Builds the push notifications to browsers. */
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
    /** Notifies a customer's browsers of an answer, without its text. */
    answered: (user_id: string) =>
      push.notify(user_id, { title: 'Support has answered', body: 'Open the chat to read it.', path: '/chat', tag: 'chat' }),

    /** Notifies that a device no longer uses web protection. `profile_id` is its profile in a home. */
    silent: ({ id, user_id, name, profile_id }: { id: string; user_id: string; name: string; profile_id: string | null }) =>
      push.notify(user_id, {
        title: 'A device doesn’t use web protection now',
        body: `We see no website requests from ${name}. Check whether it’s switched off.`,
        path: profile_id === null ? `/web-protection?device=${id}` : '/household',
        tag: `web:${id}`,
      }),

    /** Notifies a guardian that a person of their home requests a website. Only the page shows the website. */
    asked: (user_id: string, { id, profile }: { id: string; profile: string }) =>
      push.notify(user_id, {
        title: 'May I?',
        body: `${profile} asks for a website. Open it to answer.`,
        path: '/household',
        tag: `ask:${id}`,
      }),

    /** Notifies of an alert of high or critical severity, at most once a day about the same subject. */
    alerted(incident: Incident, statusOf: (user_id: string) => Promise<Status>): void {
      const { user_id, severity, rule, key: about } = incident;
      if (severity !== 'high' && severity !== 'critical') return;
      const body = alertTitle({ ...incident, simulated: false });
      // Opens the most urgent step if there is one, which may concern another alert; a blocked attack needs no step, and opens the dashboard.
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
