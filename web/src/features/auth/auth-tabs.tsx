import type { KeyboardEvent } from 'react';

interface AuthTabsProps<Mode extends string> {
  tabs: readonly { mode: Mode; label: string }[];
  mode: Mode;
  panelId: string;
  onChange: (mode: Mode) => void;
}

/** Tabs over one panel (ARIA pattern with automatic activation). Mantine's tabs would add 3 kB to the sign-in screen. */
export function AuthTabs<Mode extends string>({ tabs, mode, panelId, onChange }: AuthTabsProps<Mode>) {
  function move(event: KeyboardEvent<HTMLDivElement>) {
    const index = tabs.findIndex((tab) => tab.mode === mode);
    const target = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: -1 }[event.key];
    const next = target === undefined ? undefined : tabs.at(target % tabs.length);
    if (!next) return;
    event.preventDefault();
    onChange(next.mode);
    event.currentTarget.querySelector<HTMLElement>(`[data-mode="${next.mode}"]`)?.focus();
  }

  return (
    <div role="tablist" aria-label="Account" className="auth-tabs" onKeyDown={move}>
      {tabs.map((tab) => (
        <button
          key={tab.mode}
          type="button"
          role="tab"
          id={`${panelId}-${tab.mode}`}
          data-mode={tab.mode}
          aria-selected={tab.mode === mode}
          aria-controls={panelId}
          tabIndex={tab.mode === mode ? 0 : -1}
          onClick={() => onChange(tab.mode)}
        >
          {tab.label}
        </button>
      ))}
    </div>
  );
}
