import './toggle.css';

interface ToggleProps {
  label: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}

/** A switch that takes effect when pressed. */
export function Toggle({ label, isOn, onChange }: ToggleProps) {
  return (
    <label className="toggle">
      {label}
      <input
        type="checkbox"
        role="switch"
        checked={isOn}
        aria-checked={isOn}
        onChange={(event) => onChange(event.target.checked)}
      />
    </label>
  );
}
