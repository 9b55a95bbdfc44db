import { formatNumber } from '@palisade/contract/intl';
import type { TablerIcon } from '@tabler/icons-react';
import { type ReactNode, useId } from 'react';
import { Link } from 'react-router';
import { Row, Stack } from '#ui/layout.tsx';

interface Line {
  label: string;
  count: number;
  to: string;
  /** Someone should look if it is not 0. */
  isWarning?: boolean;
}

interface FigureCardProps {
  title: string;
  icon: TablerIcon;
  /** The large figures. */
  children: ReactNode;
  lines: readonly Line[];
}

/** A large figure with its parts, each a link to its list. */
export function FigureCard({ title, icon: Icon, children, lines }: FigureCardProps) {
  const id = useId();
  return (
    <section className="card stat-card" aria-labelledby={id}>
      <h2 id={id}>
        {title}
        <span aria-hidden="true">
          <Icon size={20} stroke={1.7} />
        </span>
      </h2>
      {children}
      <Stack as="ul" lines className="base">
        {lines.map(({ label, count, to, isWarning = false }) => (
          <li key={label}>
            <Row as={Link} to={to} wrap={false} gap="3" justify="between" className="unlined hover-accent pad-line muted">
              <span>{label}</span>
              <b className={isWarning && count > 0 ? 'num bold amber' : 'num bold ink'}>{formatNumber(count)}</b>
            </Row>
          </li>
        ))}
      </Stack>
    </section>
  );
}
