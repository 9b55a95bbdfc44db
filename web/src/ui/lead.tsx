import type { TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useId } from 'react';
import './badge.css';
import './card.css';
import './lead.css';

export type LeadTone = 'good' | 'attention' | 'danger' | 'unknown';

interface LeadWordsProps {
  icon: TablerIcon;
  title: string;
  titleId?: string;
  sentence: ReactNode;
}

/** Icon and text of a `lead__line`, for another frame than `Lead`. */
export function LeadWords({ icon: Icon, title, titleId, sentence }: LeadWordsProps) {
  return (
    <>
      <span className="icon-tile" data-size="l" aria-hidden="true">
        <Icon size={28} stroke={1.7} />
      </span>
      <div>
        <h2 id={titleId}>{title}</h2>
        <p className="sub">{sentence}</p>
      </div>
    </>
  );
}

interface LeadProps extends Omit<LeadWordsProps, 'titleId'> {
  tone: LeadTone;
  /** The main action, if there is one. */
  action?: ReactNode;
}

/** The main answer of a screen, at its top, with the action to take. */
export function Lead({ tone, icon, title, sentence, action }: LeadProps) {
  const id = useId();
  return (
    <section className="card lead glow" data-tone={tone} aria-labelledby={id}>
      <div className="lead__line">
        <LeadWords icon={icon} title={title} titleId={id} sentence={sentence} />
        {action}
      </div>
    </section>
  );
}

/** A placeholder with the height of the answer. */
export function LeadWaiting({ label }: { label: string }) {
  return <div className="card lead glow" data-tone="unknown" role="status" aria-label={label} />;
}
