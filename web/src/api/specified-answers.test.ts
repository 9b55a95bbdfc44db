import * as antiHacking from '@palisade/contract/anti-hacking';
import * as antivirus from '@palisade/contract/antivirus';
import * as auth from '@palisade/contract/auth';
import * as chat from '@palisade/contract/chat';
import * as chatRead from '@palisade/contract/chat-read';
import { chatMessageSchema } from '@palisade/contract/chat-record';
import * as current from '@palisade/contract/current-subscription';
import * as dashboard from '@palisade/contract/dashboard';
import type { Endpoint } from '@palisade/contract/endpoint';
import * as firewall from '@palisade/contract/firewall';
import { defaultOf } from '@palisade/contract/reader';
import * as remote from '@palisade/contract/remote';
import * as setup from '@palisade/contract/setup';
import { SPECIFIED_ANSWERS } from '@palisade/contract/specified-answers';
import * as subscription from '@palisade/contract/subscription';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readAnswer } from './unknown-values.ts';

const isEndpoint = (value: unknown): value is Endpoint =>
  typeof value === 'object' && value !== null && 'method' in value && 'path' in value;
const endpoints = new Map(
  [antiHacking, antivirus, auth, chat, chatRead, current, dashboard, firewall, remote, setup, subscription]
    .flatMap((module) => Object.values(module).filter(isEndpoint))
    .map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint]),
);
const RULES = z.array(firewall.ruleSchema);
const copy = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('an answer with the specification’s fields alone', () => {
  it.each(Object.entries(SPECIFIED_ANSWERS))('of %s is read', (call, answer) => {
    const endpoint = endpoints.get(call);
    expect(endpoint).toBeDefined();
    const reply = endpoint?.reply;
    if (reply === undefined) return;
    const read = readAnswer(reply, copy(answer));
    if (endpoint?.reply_unspecified === true) {
      expect(defaultOf(reply)).toBeDefined();
      return;
    }
    expect(read).toBeDefined();
    // The result is whole: a server of this version writes the same, apart from ids.
    const problems = reply.safeParse(read?.data).error?.issues.filter(({ code }) => code !== 'invalid_format') ?? [];
    expect(problems).toEqual([]);
  });

  it.each(Object.entries(SPECIFIED_ANSWERS))('of %s is read with fields that are new', (call, answer) => {
    const endpoint = endpoints.get(call);
    const newer = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.map(newer)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries([
              ...Object.entries(value).map(([name, part]) => [name, newer(part)]),
              ['new_in_this_version', { a: 1 }],
            ])
          : value;
    if (endpoint?.reply === undefined || endpoint.reply_unspecified === true) return;
    expect(readAnswer(endpoint.reply, newer(copy(answer)))).toBeDefined();
  });

  it('is refused where what the specification names is not there', () => {
    expect(readAnswer(auth.signedInSchema, { user_info: { username: 'maria', email: 'maria@example.com' } })).toBeUndefined();
    expect(readAnswer(RULES, [{ id: '1', rule_name: 'Web' }])).toBeUndefined();
    expect(readAnswer(z.array(antivirus.scanSchema), { scans: [] })).toBeUndefined();
  });

  it('has the defaults of what is not known', () => {
    expect(readAnswer(RULES, copy(SPECIFIED_ANSWERS['GET /firewall/rules']))?.data[0]).toMatchObject({
      id: '7',
      expires_at: null,
      device_ids: [],
      created_at: '2026-11-20T10:00:00.123Z',
    });
    expect(readAnswer(auth.signedInSchema, copy(SPECIFIED_ANSWERS['POST /auth/login']))?.data.user_info).toEqual({
      id: 'maria@example.com',
      username: 'maria',
      email: 'maria@example.com',
      role: 'customer',
    });
    expect(
      readAnswer(z.array(antiHacking.alertSchema), copy(SPECIFIED_ANSWERS['GET /premium/anti-hacking/alerts']))?.data,
    ).toMatchObject([
      { outcome: 'blocked', count: 1, first_seen: '2026-11-20T10:00:00.123Z', simulated: false },
      { threat_type: 'quantum_attempt', severity: 'high' },
    ]);
    const [newest, oldest] = readAnswer(z.array(chatMessageSchema), copy(SPECIFIED_ANSWERS['GET /chat/messages']))?.data ?? [];
    expect((newest?.seq ?? 0) - (oldest?.seq ?? 0)).toBe(60);
  });
});
