import type { ReactNode } from 'react';
import './toggle.css';

interface ToggleProps {
  label: ReactNode;
  /** For screen readers, if the label alone does not say what is switched. */
  name?: string;
  isOn: boolean;
  disabled?: boolean;
  /** True if switching on has no effect yet. */
  idle?: boolean;
  /** Fills the line, with the switch at its end. */
  wide?: boolean;
  onChange: (isOn: boolean) => void;
}

/** A switch that takes effect when pressed. */
export function Toggle({ label, name, isOn, disabled = false, idle = false, wide = false, onChange }: ToggleProps) {
  return (
    <label className="toggle" data-wide={wide || undefined} data-idle={idle || undefined}>
      {label}
      <input
        type="checkbox"
        role="switch"
        aria-label={name}
        checked={isOn}
        disabled={disabled}
        aria-checked={isOn}
        onChange={(event) => onChange(event.target.checked)}
      />
    </label>
  );
}
