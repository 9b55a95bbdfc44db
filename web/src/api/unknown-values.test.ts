import { alertSchema, resolutionReasonSchema } from '@palisade/contract/anti-hacking';
import { scanSchema } from '@palisade/contract/antivirus';
import { activitySchema } from '@palisade/contract/audit';
import { blockSchema } from '@palisade/contract/blocks';
import { chatMessageSchema } from '@palisade/contract/chat-record';
import { engineStatusSchema } from '@palisade/contract/engine';
import { serverFrameSchema } from '@palisade/contract/events';
import { ruleSchema } from '@palisade/contract/firewall';
import { mailStatusSchema } from '@palisade/contract/mail';
import { problemSchema } from '@palisade/contract/problem';
import { keptSchema, reportStatusSchema } from '@palisade/contract/quarantine';
import { sessionStatusSchema } from '@palisade/contract/remote-record';
import { planRequestStatusSchema, subscriptionStatusSchema } from '@palisade/contract/subscription';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { scanOf } from './fake-records.ts';
import { readAnswer } from './unknown-values.ts';

/** As it comes over the wire. */
function wire(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe('an answer of a newer server', () => {
  // proves: product-1.2-1
  it('shows a file of unknown status as pending, and no other file otherwise', () => {
    const list = wire([
      scanOf({ scan_status: 'clean' }),
      { ...scanOf({}), scan_status: 'sandboxed', status_detail: 'detonating' },
    ]);
    const read = readAnswer(z.array(scanSchema), list);
    expect(read?.data.map(({ scan_status }) => scan_status)).toEqual(['clean', 'pending']);
    expect(read?.data[1]?.status_detail).toBeNull();
  });

  it('calls nothing over, harmless or blocked that it cannot read', () => {
    const { severity, status, outcome } = alertSchema.shape;
    const alert = z.object({ severity, status, outcome });
    expect(readAnswer(alert, { severity: 'catastrophic', status: 'escalated', outcome: 'contained' })?.data).toEqual({
      severity: 'high',
      status: 'open',
      outcome: 'unknown',
    });
  });

  // proves: product-1.2-2
  it('shows what it tells of as something else', () => {
    const entry = {
      seq: 1,
      at: '2026-11-22T10:00:00.000Z',
      kind: 'hologram_added',
      by: 'robot',
      address: null,
      client: null,
      details: {},
    };
    expect(readAnswer(activitySchema, entry)?.data).toMatchObject({ kind: 'other', by: 'server' });
  });

  it('lists a rule of a kind that it does not know as one that lets in whatever it may be about', () => {
    const { direction, action, protocol } = ruleSchema.shape;
    const rule = z.object({ direction, action, protocol });
    expect(readAnswer(z.array(rule), [{ direction: 'sideways', action: 'tarpit', protocol: 'sctp' }])?.data).toEqual([
      { direction: 'inbound', action: 'allow', protocol: 'all' },
    ]);
  });

  it.each([
    ['a message', chatMessageSchema.shape.sender],
    ['a resolution', resolutionReasonSchema],
    ['a blocked source', blockSchema.shape.kind],
    ['the rule that blocked it', blockSchema.shape.rule],
    ['a remote session', sessionStatusSchema],
    ['a mail', mailStatusSchema],
    ['a plan', subscriptionStatusSchema],
    ['a request', planRequestStatusSchema],
    ['a report', reportStatusSchema],
    ['a kept file', keptSchema],
    ['the engine’s rules', engineStatusSchema],
  ])('has something to show in the place of %s', (_, schema) => {
    const enums: string[][] = [];
    const look = (part: unknown): void => {
      if (typeof part !== 'object' || part === null) return;
      if ('enum' in part && Array.isArray(part.enum) && part.enum.length > 1) enums.push(part.enum);
      for (const inner of Object.values(part)) look(inner);
    };
    look(z.toJSONSchema(schema, { unrepresentable: 'any' }));
    expect(enums).not.toEqual([]);
    for (const words of enums) expect(readAnswer(z.object({ word: z.enum(words) }), { word: 'unheard_of' })).toBeDefined();
  });

  it('keeps the sentence of a refusal with an unknown code', () => {
    const problem = { type: 'about:blank', title: 'No', status: 418, detail: 'It is a teapot.', code: 'teapot' };
    expect(readAnswer(problemSchema, wire({ ...problem, instance: '/' }))?.data.detail).toBe('It is a teapot.');
  });

  it('shows the file of an event', () => {
    const event = { kind: 'scan_changed', scan: { ...scanOf({}), scan_status: 'sandboxed' } };
    const read = readAnswer(serverFrameSchema, wire({ kind: 'event', id: null, event }));
    expect(read?.data).toMatchObject({ event: { scan: { scan_status: 'pending' } } });
  });

  it('is not read where something is missing or of another type', () => {
    expect(readAnswer(scanSchema, wire({ ...scanOf({}), scan_status: 7 }))).toBeUndefined();
    expect(readAnswer(scanSchema, wire({ ...scanOf({}), size: 'big' }))).toBeUndefined();
    expect(readAnswer(scanSchema, undefined)).toBeUndefined();
  });
});
