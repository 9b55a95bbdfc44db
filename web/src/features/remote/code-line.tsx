import type { Side } from '@palisade/contract/remote-record';
import { IconFingerprint } from '@tabler/icons-react';
import { Grid } from '#ui/layout.tsx';
import './code-line.css';

/** The code that both sides read aloud to each other. Equal codes prove that no attacker is between the two pages. */
export function CodeLine({ code, side }: { code: string | undefined; side: Side }) {
  if (code === undefined) return null;
  return (
    <Grid columns="lead" gap="3" rowGap="0" align="center" className="code-line">
      <IconFingerprint className="accent" size={22} stroke={1.7} aria-hidden="true" />
      <p>
        <span className="small muted">Connection code</span>{' '}
        <span className="code-line__code nowrap" role="img" aria-label={code.split('').join(' ')}>
          {code}
        </span>
      </p>
      <p className="sub">
        {side === 'customer'
          ? 'Ask the technician to read their code to you. If it differs, press End session.'
          : 'Read it to the customer. If theirs differs, end the session.'}
      </p>
    </Grid>
  );
}
