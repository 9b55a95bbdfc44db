import { login, logout, register } from '@palisade/contract/auth';
import { Problem } from '#platform/problem.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Auth } from './auth.ts';

export function serveAuth(api: Api, auth: Auth): void {
  serve(api, register, 'anyone', ({ body }) => auth.register(body));

  serve(api, login, 'anyone', async ({ body, request }) => {
    const { user_info, stillHolds } = await auth.authenticate(body);
    const origin = { user_agent: request.headers['user-agent'], source: request.ip };
    const { token, session_id } = await api.sessions.start(user_info.id, origin);
    if (!(await stillHolds())) {
      await api.sessions.end(session_id);
      throw new Problem('invalid_credentials');
    }
    return { access_token: token, user_info };
  });

  serve(api, logout, 'customer', ({ session }) => api.sessions.end(session.id));
}
