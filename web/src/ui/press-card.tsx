import type { TablerIcon } from '@tabler/icons-react';
import './press-card.css';

interface PressCardProps {
  title: string;
  sentence: string;
  icon?: TablerIcon;
  isOn: boolean;
  onPress: () => void;
}

/** One of a few choices, each with a description. */
export function PressCard({ title, sentence, icon: Icon, isOn, onPress }: PressCardProps) {
  return (
    <button type="button" className="press-card" aria-pressed={isOn} onClick={onPress}>
      {Icon && <Icon size={24} stroke={1.6} aria-hidden="true" />}
      <span className="break">
        {title}
        <span className="sub block">{sentence}</span>
      </span>
    </button>
  );
}
