import type { TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useId } from 'react';
import './card.css';

interface CardProps {
  title: string;
  /** Content at the end of the heading's line: a link or a button. */
  action?: ReactNode;
  /** `raised` for the main action of a screen, `sunken` for a note beside lists. */
  level?: 'raised' | 'sunken' | undefined;
  children: ReactNode;
}

/** A titled part of a page. */
export function Card({ title, action, level, children }: CardProps) {
  const id = useId();
  return (
    <section className="card" data-level={level} aria-labelledby={id}>
      <div className="card__head below-2">
        <h2 id={id}>{title}</h2>
        {action}
      </div>
      {children}
    </section>
  );
}

interface StatCardProps {
  label: string;
  icon: TablerIcon;
  value: string;
  /** The origin or meaning of the figure, in a few words. Null if the figure needs none. */
  children?: ReactNode;
}

/** One large figure with its origin beneath. */
export function StatCard({ label, icon: Icon, value, children }: StatCardProps) {
  const id = useId();
  return (
    <section className="card stat-card" aria-labelledby={id}>
      <h2 id={id}>
        {label}
        <span aria-hidden="true">
          <Icon size={20} stroke={1.7} />
        </span>
      </h2>
      <p className="stat-card__value num">{value}</p>
      {children !== null && <p className="stat-card__origin">{children}</p>}
    </section>
  );
}
