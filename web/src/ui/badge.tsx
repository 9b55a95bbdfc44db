import type { TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import './badge.css';

/** Meaning of a colour: safe, needs the person, danger, information; `plain` has no meaning. */
export type Tone = 'safe' | 'attention' | 'danger' | 'note' | 'plain';

interface BadgeProps {
  tone: Tone;
  icon?: TablerIcon;
  children: ReactNode;
}

/** A state in one or two words. Color and icon only support the words. */
export function Badge({ tone, icon: Icon, children }: BadgeProps) {
  return (
    <span className="badge" data-tone={tone}>
      {Icon && <Icon size={14} stroke={2} aria-hidden="true" />}
      {children}
    </span>
  );
}

/** The icon at the start of a row, in the colour of its state. */
export function IconTile({ tone, icon: Icon }: { tone: Tone; icon: TablerIcon }) {
  return (
    <span className="icon-tile fixed rounded-s" data-tone={tone} aria-hidden="true">
      <Icon size={20} stroke={1.7} />
    </span>
  );
}
