import { WEB_TRIAL_HEADER } from '@palisade/contract/web-protection';
import { emptyAnswer } from '@palisade/names/answers';
import { answerSeconds } from '@palisade/names/records';
import { RCODE, readQuestion } from '@palisade/names/wire';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Counters } from '#platform/counters.ts';
import type { DirectRequest, DirectRoute } from '#platform/direct-requests.ts';
import { sourceOf } from '#platform/origin.ts';
import { appleProfile } from './apple-profile.ts';
import type { QuestionDesk } from './question-desk.ts';
import type { WebDevices } from './web-devices.ts';
import { refuse, refuseFor } from './web-protection.refusals.ts';

const MESSAGE = 'application/dns-message';
const MESSAGE_MAXIMUM = 65_535;
/** Rate limit of unknown keys per source. */
const GUESSES = { count: 30, period_ms: 60_000 } as const;
const LIMITED_MS = 5_000;
const ADDRESS = /^\/dns\/([^/?#]+)(?:\?([^#]*))?$/u;

const paramsSchema = z.object({ key: z.string() });

/** Refuses an unknown key. Attempts are limited per source. */
async function refuseKey(counters: Pick<Counters, 'take'>, ip: string): Promise<never> {
  const empty = await counters.take([{ key: `dns-keys:${sourceOf(ip)}`, rate: GUESSES }]);
  throw empty === undefined ? refuse('web_key.unknown') : refuseFor(empty.wait_ms, 'web_key.too_many');
}

/** The DNS message of a GET request: the base64url value of the single parameter `dns`. */
function messageIn(query: string | undefined): Buffer {
  const values = new URLSearchParams(query).getAll('dns');
  const [value] = values;
  if (value === undefined || values.length > 1 || !/^[\w-]*$/u.test(value)) throw refuse('web_question.form');
  return Buffer.from(value, 'base64url');
}

/** The answer to a web page that tests an address. It never contains records, so that a device cannot use it to bypass the rules. */
function trialAnswer(message: Buffer) {
  const reading = readQuestion(message);
  if (reading.kind !== 'question') throw refuse('web_question.form');
  return { headers: ['content-type', MESSAGE, 'cache-control', 'no-store'], body: emptyAnswer(reading.question, RCODE.NOERROR) };
}

/** Serves DNS over HTTPS (RFC 8484) at `/dns/{key}`. No page uses it, so it is not part of the API. */
export function namesOverHttps(parts: {
  desk: Pick<QuestionDesk, 'ask' | 'isKnown'>;
  counters: Pick<Counters, 'take'>;
}): DirectRoute {
  return {
    address: ADDRESS,
    name: '/dns/{key}',
    body: { type: MESSAGE, maximum: MESSAGE_MAXIMUM },
    async answer({ url, headers, ip, body }: DirectRequest) {
      const [, key = '', query] = ADDRESS.exec(url) ?? [];
      const message = body ?? messageIn(query);
      if (headers[WEB_TRIAL_HEADER] !== undefined) {
        if (!(await parts.desk.isKnown(key))) return await refuseKey(parts.counters, ip);
        return trialAnswer(message);
      }
      const answered = await parts.desk.ask({ key }, message);
      if (answered.kind === 'unknown') return await refuseKey(parts.counters, ip);
      if (answered.kind === 'limited') throw refuseFor(LIMITED_MS, 'web_key.too_many');
      if (answered.answer === undefined) throw refuse('web_question.form');
      const seconds = answerSeconds(answered.answer);
      return { headers: ['content-type', MESSAGE, 'cache-control', `max-age=${seconds}`], body: answered.answer };
    },
  };
}

/** Serves configuration profiles for Apple devices. */
export function serveAppleProfiles(
  fastify: FastifyInstance,
  parts: {
    devices: Pick<WebDevices, 'findByKey'>;
    counters: Pick<Counters, 'take'>;
    public_url: string | undefined;
    provider: () => Promise<string>;
  },
): void {
  const { devices, counters, public_url, provider } = parts;
  fastify.get('/dns/:key/profile', { schema: { hide: true } }, async (request, reply) => {
    const { key } = paramsSchema.parse(request.params);
    const device = await devices.findByKey(key);
    if (device === undefined) return await refuseKey(counters, request.ip);
    if (public_url === undefined || !public_url.startsWith('https:')) throw refuse('web_profile.needs_https');
    const profile = appleProfile({
      address: new URL(`/dns/${key}`, public_url).href,
      provider: await provider(),
      device_name: device.name,
      device_id: device.id,
    });
    reply.header('content-disposition', 'attachment; filename="web-protection.mobileconfig"').header('cache-control', 'no-store');
    return reply.type('application/x-apple-aspen-config').send(profile);
  });
}
