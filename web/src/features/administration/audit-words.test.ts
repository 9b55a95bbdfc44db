import { describe, expect, it } from 'vitest';
import { auditSentence } from './audit-words.ts';

const ANNA = '01930000-0000-7000-8000-000000000001';
const BEN = '01930000-0000-7000-8000-000000000002';
const by = (actor_id: string | null) => ({ subject_id: ANNA, actor_id });

describe('the sentence of an entry', () => {
  it.each([
    ['role_changed', by(BEN), { from: 'customer', to: 'support' }, '{who} changed the role of {whom} {fact}'],
    ['role_changed', by(BEN), {}, '{who} changed the role of {whom}'],
    ['account_deleted', by(ANNA), {}, '{who} deleted the account'],
    ['subscription_assigned', by(BEN), { plan_name: 'Solo' }, '{who} assigned the plan {fact} to {whom}'],
    ['username_changed', by(ANNA), {}, '{who} changed their username'],
    // The server did it, so it says whose account it is.
    ['password_reset', by(null), {}, '{who} reset their password ({whom})'],
    ['remote_voice_on', by(ANNA), {}, '{who}: Voice turned on in a remote session'],
  ] as const)('%s of %j', (kind, people, details, text) => {
    expect(auditSentence({ kind, ...people, details }).text).toBe(text);
  });
});
