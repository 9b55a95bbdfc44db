import type { TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { IconTile } from '#ui/badge.tsx';
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
    <div className="factor">
      <IconTile tone="note" icon={icon} />
      <div className="session-row__what">
        <span className="session-row__client">{title}</span>
        <span>{line}</span>
      </div>
      <div className="factor__actions">{actions}</div>
      {children && <div className="factor__more">{children}</div>}
    </div>
  );
}

/** Explains that passkeys need another address: browsers bind them to a domain, and reject bare IP addresses. */
export function PasskeysElsewhere({ origin }: { origin: string | null }) {
  if (origin === window.location.origin) return null;
  if (origin === null)
    return (
      <p className="factor__note">Passkeys need a server address with https. Ask your administrator to set its public address.</p>
    );
  return (
    <p className="factor__note">
      <Elsewhere origin={origin} />
    </p>
  );
}
