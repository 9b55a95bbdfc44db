import { z } from 'zod';
import { currentSession } from '#api/session.ts';

const repliesSchema = z.array(z.object({ after: z.string(), text: z.string(), at: z.string() }));
/** An automatic reply: of this tab alone, where it outlives a reload. `after` is the message that it answers. */
export type AutomaticReply = z.infer<typeof repliesSchema>[number];

/** So many are kept. */
const KEPT = 50;

function key(): string {
  return `palisade.automatic_replies.${currentSession()?.user_info.id ?? ''}`;
}

/** What was replied in this tab. Storage that is blocked or corrupt holds nothing. */
export function readReplies(): AutomaticReply[] {
  try {
    return repliesSchema.safeParse(JSON.parse(sessionStorage.getItem(key()) ?? '[]')).data ?? [];
  } catch {
    return [];
  }
}

export function keepReply(reply: AutomaticReply): void {
  try {
    sessionStorage.setItem(key(), JSON.stringify([...readReplies(), reply].slice(-KEPT)));
  } catch {
    // Without storage it lives as long as the page.
  }
}
