import type { Link, Missing } from './connection.ts';

/** Explanations of a failed connection, for the customer and for the administrator who can fix it. */
const MISSING: Record<Missing, string> = {
  relay: 'The two networks can’t connect directly. An administrator can add a relay with TURN_URL and TURN_SECRET.',
  relay_access: 'The relay refused the session. An administrator should check TURN_SECRET.',
  relay_answer: 'The relay does not answer. An administrator should check TURN_URL.',
  other_side: 'The other side doesn’t answer. Their page may be closed or offline.',
};

/** State of the connection between both pages as a sentence; undefined while connected. */
export function describeLink(link: Link): string | undefined {
  switch (link.state) {
    case 'connected':
      return undefined;
    case 'waiting':
      return 'Waiting for the other side…';
    case 'connecting':
      return 'Connecting to the other side…';
    case 'lost':
      return 'The connection was lost. Reconnecting…';
    case 'failed':
      return MISSING[link.missing];
  }
}
