import type { Side } from '@palisade/contract/remote-record';
import { IconFingerprint } from '@tabler/icons-react';
import './code-line.css';

/** The code that both sides read to each other. Equal codes prove that no attacker is between the two pages. */
export function CodeLine({ code, side }: { code: string | undefined; side: Side }) {
  if (code === undefined) return null;
  return (
    <div className="code-line">
      <IconFingerprint size={22} stroke={1.7} aria-hidden="true" />
      <p>
        <span className="code-line__label">Connection code</span>{' '}
        <span className="code-line__code" role="img" aria-label={code.split('').join(' ')}>
          {code}
        </span>
      </p>
      <p className="sub">
        {side === 'customer'
          ? 'Ask the technician to read their code to you. If it differs, press End session.'
          : 'Read it to the customer. If theirs differs, end the session.'}
      </p>
    </div>
  );
}
