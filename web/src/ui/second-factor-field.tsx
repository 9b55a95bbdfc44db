import { TextInput } from '@mantine/core';
import type { SecondFactor } from '@palisade/contract/problem';
import './second-factor-field.css';

const FIELDS = {
  totp: { label: 'Code', description: 'Enter the six digits from your authenticator app.' },
  recovery_code: {
    label: 'Recovery code',
    description: 'Enter one of the ten codes you saved. Each works once.',
  },
} as const;

const WAYS: Record<SecondFactor, string> = {
  totp: 'Use my authenticator app',
  passkey: 'Use a passkey',
  recovery_code: 'Use a recovery code',
};

interface SecondFactorFieldProps {
  methods: readonly SecondFactor[];
  method: SecondFactor;
  value: string;
  error: string | undefined;
  onMethod: (method: SecondFactor) => void;
  onChange: (value: string) => void;
}

/** The field of a second factor, if it has one, and links to the other methods. */
export function SecondFactorField({ methods, method, value, error, onMethod, onChange }: SecondFactorFieldProps) {
  return (
    <div className="second-factor">
      {method === 'passkey' ? (
        <p className="second-factor__passkey">Your browser will ask for your fingerprint, face, or device PIN.</p>
      ) : (
        <TextInput
          key={method}
          {...FIELDS[method]}
          name={method}
          className={method === 'totp' ? 'second-factor__code' : 'second-factor__recovery'}
          inputMode={method === 'totp' ? 'numeric' : 'text'}
          autoComplete={method === 'totp' ? 'one-time-code' : 'off'}
          autoCapitalize="none"
          spellCheck={false}
          required
          withAsterisk={false}
          size="md"
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
          error={error}
        />
      )}
      {methods.length > 1 && (
        <div className="second-factor__ways">
          {methods
            .filter((other) => other !== method)
            .map((other) => (
              <button key={other} type="button" className="link-button" onClick={() => onMethod(other)}>
                {WAYS[other]}
              </button>
            ))}
        </div>
      )}
    </div>
  );
}
