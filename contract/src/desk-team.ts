import { z } from 'zod';
import { colleagueSchema, presenceSchema } from './desk-record.ts';
import { endpoint } from './endpoint.ts';

/** Time without keyboard or pointer activity after which a page reports its person as away, in ms. */
export const ABSENT_AFTER = 10 * 60_000;

export const teamMemberSchema = colleagueSchema.extend({
  presence: presenceSchema,
  /** Number of open conversations that are assigned to them. */
  open: z.int(),
});
export type TeamMember = z.infer<typeof teamMemberSchema>;

export const listTeam = endpoint({
  method: 'GET',
  path: '/support/team',
  summary: 'The staff, and who of them is here.',
  access: 'support',
  reply: z.array(teamMemberSchema),
});

export const setPresence = endpoint({
  method: 'PUT',
  path: '/support/presence',
  summary:
    'Say that one is here or away. It holds until said otherwise; without an open page one is offline. `by_hand: false` is a page that noticed it.',
  access: 'support',
  body: z.object({
    presence: z.enum(['here', 'away', 'offline'], { error: 'Choose "here", "away", or "offline".' }),
    by_hand: z.boolean().default(true),
  }),
  reply: teamMemberSchema,
});
