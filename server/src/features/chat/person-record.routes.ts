import type { AuditKind } from '@palisade/contract/audit';
import type { CustomerCard } from '@palisade/contract/desk';
import { may } from '@palisade/contract/may';
import { type PersonRecord, readPersonRecord } from '@palisade/contract/person-record';
import { type Origin, originOf } from '#platform/origin.ts';
import { Problem } from '#platform/problem.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { ConversationRow } from './records.ts';

/** Records an action about a person in the audit log. */
type RecordDeed = (
  kind: AuditKind,
  deed: { subject_id: string; actor_id: string; origin: Origin; details?: Record<string, string> },
) => Promise<void>;

/** Facts of a person that the desk may read. */
export interface PersonParts {
  customerCard: (user_id: string) => Promise<CustomerCard | undefined>;
  /** A person's conversation; undefined before their first message. */
  conversationOf: (user_id: string) => Promise<ConversationRow | undefined>;
  /** The part of a person's record that only administrators see. */
  administrationOf: (user_id: string) => Promise<NonNullable<PersonRecord['administration']>>;
  record: RecordDeed;
}

export function servePersonRecord(api: Api, { customerCard, conversationOf, administrationOf, record }: PersonParts): void {
  serve(api, readPersonRecord, 'support', async ({ session, query: { user_id }, request }) => {
    const conversation = await conversationOf(user_id);
    if (!may.openPersonRecord(session.user, conversation)) throw new Problem('not_found');
    const card = await customerCard(user_id);
    if (card === undefined) throw new Problem('not_found');
    const administration = may.administrate(session.user) ? await administrationOf(user_id) : null;
    // Record before showing. Opening one's own record is not logged.
    const by = { subject_id: user_id, actor_id: session.user.id, origin: originOf(request) };
    if (user_id !== session.user.id) await record('customer_card_opened', by);
    return { card, conversation: conversation ? { id: conversation.id, status: conversation.status } : null, administration };
  });
}
