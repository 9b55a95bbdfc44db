import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { timeSchema } from './fields.ts';

/**
 * Signs that a request came through a proxy: HTTP/1.0, which nginx uses by default and browsers never; a header that proxies add; header names in the form of
 * HAProxy, in lower case and without `Connection`.
 */
export const PROXY_SIGNS = ['old_http', 'forwarding_header', 'header_names'] as const;
export const proxySignSchema = z.enum(PROXY_SIGNS);
export type ProxySign = z.infer<typeof proxySignSchema>;

/** Detected proxies that the settings do not name. */
const proxyFindingsSchema = z.object({
  behind_proxy: z
    .object({ since: timeSchema, sign: proxySignSchema })
    .nullable()
    .describe('In local exposure: a request came through a proxy, so that no reset token and no username is answered.'),
  untrusted: z
    .array(z.object({ address: z.string(), since: timeSchema, sign: proxySignSchema }))
    .describe('Addresses that proxies seem to have and that TRUSTED_PROXIES does not name.'),
});
export type ProxyFindings = z.infer<typeof proxyFindingsSchema>;

export const readProxyFindings = endpoint({
  method: 'GET',
  path: '/admin/proxies',
  summary: 'What was found of proxies that the settings do not name.',
  access: 'admin',
  reply: proxyFindingsSchema,
});

export const clearProxyFindings = endpoint({
  method: 'DELETE',
  path: '/admin/proxies',
  summary:
    'Say that the findings are read. Tokens are answered to the machine itself again, until the next request comes through a proxy.',
  access: 'admin',
});
