import type { TablerIcon } from '@tabler/icons-react';
import { type KeyboardEvent, type ReactNode, useId } from 'react';
import './side-tabs.css';

export interface SideTab<Name extends string> {
  name: Name;
  label: string;
  icon: TablerIcon;
}

interface SideTabsProps<Name extends string> {
  label: string;
  tabs: readonly SideTab<Name>[];
  chosen: Name;
  onChoose: (name: Name) => void;
  /** Focuses the chosen tab when the surrounding dialog opens. */
  isFirst?: boolean;
  /** The panel of the chosen tab. */
  children: ReactNode;
}

/** Tabs beside their panel, or above it on a phone (ARIA pattern with automatic activation). */
export function SideTabs<Name extends string>({ label, tabs, chosen, onChoose, isFirst = false, children }: SideTabsProps<Name>) {
  const id = useId();
  function move(event: KeyboardEvent<HTMLDivElement>) {
    const index = tabs.findIndex(({ name }) => name === chosen);
    // Follows the writing direction.
    const onward = document.dir === 'rtl' ? -1 : 1;
    const step = { ArrowRight: onward, ArrowDown: 1, ArrowLeft: -onward, ArrowUp: -1 }[event.key];
    const target =
      event.key === 'Home' ? 0 : event.key === 'End' ? -1 : step === undefined ? undefined : (index + step) % tabs.length;
    const next = target === undefined ? undefined : tabs.at(target);
    if (!next) return;
    event.preventDefault();
    onChoose(next.name);
    event.currentTarget.querySelector<HTMLElement>(`[data-tab="${next.name}"]`)?.focus();
  }
  return (
    <div className="side-tabs">
      <div role="tablist" aria-label={label} className="side-tabs__list" onKeyDown={move}>
        {tabs.map(({ name, label: text, icon: Icon }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            data-tab={name}
            aria-selected={name === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={name === chosen ? 0 : -1}
            data-autofocus={(isFirst && name === chosen) || undefined}
            onClick={() => onChoose(name)}
          >
            <Icon size={18} stroke={1.7} aria-hidden="true" />
            {text}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`} className="side-tabs__panel shrink">
        {children}
      </div>
    </div>
  );
}
