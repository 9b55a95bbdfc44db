import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { isForLoopback } from './local-request.ts';
import { refuse } from './platform.refusals.ts';

/** Characters that are safe between single quotes in a shell script. */
const ORIGIN = /^https?:\/\/[\w.:[\]-]+$/u;

/**
 * Serves the agent's files: the install script, with this server's address and the archives' hashes, and the archives. Plain http is refused except on this machine: an
 * attacker on the network could change the archive and become root.
 */
export async function serveAgentPackage(fastify: FastifyInstance, folder: string, public_url: string | undefined): Promise<void> {
  const path = join(folder, 'install.sh');
  const script = existsSync(path) ? readFileSync(path, 'utf8') : undefined;

  fastify.get('/agent/install.sh', { schema: { hide: true } }, (request, reply) => {
    const base = public_url === undefined ? `${request.protocol}://${request.host}` : new URL(public_url).origin;
    const is_safe = base.startsWith('https:') || (public_url === undefined && isForLoopback(request));
    if (!is_safe || !ORIGIN.test(base)) throw refuse('agent_package.not_safe');
    if (script === undefined) throw refuse('agent_package.not_built');
    return reply
      .type('text/x-shellscript; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(script.replace('@SERVER@', base));
  });
  if (script === undefined) return;
  await fastify.register(fastifyStatic, {
    ...{ root: join(folder, 'files'), prefix: '/agent/files/', decorateReply: false, wildcard: false, index: false },
    setHeaders: (reply) => void reply.header('cache-control', 'no-cache'),
  });
}
