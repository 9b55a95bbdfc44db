import type { TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { IconTile } from '#ui/badge.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { PasskeysElsewhere as Elsewhere } from '#ui/passkeys-elsewhere.tsx';
import './two-factor.css';

interface FactorProps {
  icon: TablerIcon;
  title: string;
  line: ReactNode;
  actions: ReactNode;
  children?: ReactNode;
}

/** One kind of second factor: its name, its state and its actions. */
export function Factor({ icon, title, line, actions, children }: FactorProps) {
  return (
    <Grid columns="both" phone="under" gap="3" rowGap="2" align="center" className="pad-row line-between">
      <IconTile tone="note" icon={icon} />
      <Stack className="small muted break">
        <span className="base medium ink">{title}</span>
        <span>{line}</span>
      </Stack>
      <Row gap="2" rowGap="1" justify="end">
        {actions}
      </Row>
      {children && (
        <Stack gap="2" className="factor__more off-empty">
          {children}
        </Stack>
      )}
    </Grid>
  );
}

/** Explains that passkeys need another address: browsers bind them to a domain, and reject bare IP addresses. */
export function PasskeysElsewhere({ origin }: { origin: string | null }) {
  if (origin === window.location.origin) return null;
  if (origin === null)
    return (
      <p className="surface-blue pad-s small muted break">
        Passkeys need a server address with https. Ask your administrator to set its public address.
      </p>
    );
  return (
    <p className="surface-blue pad-s small muted break">
      <Elsewhere origin={origin} />
    </p>
  );
}
