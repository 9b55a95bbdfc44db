import type { Monitor } from '@palisade/contract/alerts';
import { ALERT_TYPES, severitySchema } from '@palisade/contract/anti-hacking';
import type { AlertChoice } from './alerts.queries.ts';
import { describeType } from './threat.tsx';

const STATES: readonly { status: AlertChoice['status']; label: string; count?: keyof Monitor['alerts'] }[] = [
  { status: 'active', label: 'Active', count: 'active' },
  { status: 'resolved', label: 'Resolved', count: 'resolved' },
  { status: 'hidden', label: 'Hidden', count: 'hidden' },
  { status: undefined, label: 'All' },
];

interface AlertFiltersProps {
  choice: AlertChoice;
  counts: Monitor['alerts'] | undefined;
  onChange: (choice: AlertChoice) => void;
}

export function AlertFilters({ choice, counts, onChange }: AlertFiltersProps) {
  return (
    <div className="alert-filters">
      <fieldset className="alert-filters__states" aria-label="Which alerts">
        {STATES.map(({ status, label, count }) => (
          <label key={label}>
            <input
              type="radio"
              name="alert-status"
              checked={choice.status === status}
              onChange={() => onChange({ ...choice, status })}
            />
            <span>
              {label}
              {count && counts && counts[count] > 0 && <span className="num"> {counts[count]}</span>}
            </span>
          </label>
        ))}
      </fieldset>
      <div className="alert-filters__choices">
        <Choice
          label="Severity"
          value={choice.severity}
          options={severitySchema.options.map((severity) => [severity, capital(severity)])}
          onChoose={(severity) => onChange({ ...choice, severity })}
        />
        <Choice
          label="Type"
          value={choice.type}
          options={ALERT_TYPES.map((type) => [type, capital(describeType(type))])}
          onChoose={(type) => onChange({ ...choice, type })}
        />
        <Choice
          label="Origin"
          value={choice.simulated}
          options={[
            ['false', 'Really happened'],
            ['true', 'Drills'],
          ]}
          onChoose={(simulated) => onChange({ ...choice, simulated })}
        />
      </div>
    </div>
  );
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

interface ChoiceProps<Value extends string> {
  label: string;
  value: Value | undefined;
  options: readonly (readonly [Value, string])[];
  onChoose: (value: Value | undefined) => void;
}

/** The browser's own select: phones show it full screen. */
function Choice<Value extends string>({ label, value, options, onChoose }: ChoiceProps<Value>) {
  return (
    <select
      aria-label={label}
      data-chosen={value !== undefined}
      value={value ?? ''}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        onChoose(options.find(([known]) => known === chosen)?.[0]);
      }}
    >
      <option value="">{`Any ${label.toLowerCase()}`}</option>
      {options.map(([known, words]) => (
        <option key={known} value={known}>
          {words}
        </option>
      ))}
    </select>
  );
}
