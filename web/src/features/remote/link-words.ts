import type { Link, Missing } from './connection.ts';

/** The missing part where no way was found, for the customer, and for a person who can add it. */
const MISSING: Record<Missing, string> = {
  relay:
    'The two networks do not let each other through, and this installation has no relay. An administrator can set one up: TURN_URL and TURN_SECRET.',
  relay_access: 'The relay of this installation refused the session: its secret is another one than TURN_SECRET here.',
  relay_answer: 'The relay of this installation does not answer. An administrator should look at the address in TURN_URL.',
  other_side: 'The other side does not answer. Their page may be closed, or their network may be down.',
};

/** State of the way between the two pages, in a sentence; undefined while there is one. */
export function describeLink(link: Link): string | undefined {
  switch (link.state) {
    case 'connected':
      return undefined;
    case 'waiting':
      return 'Waiting for the other side…';
    case 'connecting':
      return 'Looking for a way to the other side…';
    case 'lost':
      return 'The connection was lost. It is looked for again by itself.';
    case 'failed':
      return MISSING[link.missing];
  }
}
