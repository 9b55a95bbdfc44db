import { TextInput } from '@mantine/core';
import { MAX_DEVICES_OPTIONS, PLAN_NAME_LENGTH_MAXIMUM, PRICE_MAXIMUM, UNLIMITED_DEVICES } from '@palisade/contract/subscription';
import { Check } from '#ui/check.tsx';
import { Choice } from '#ui/choice.tsx';
import { Grid } from '#ui/layout.tsx';
import type { FieldMessages, PlanDraft } from './drafts.ts';
import { FeaturesField } from './features-field.tsx';
import { describeDevices, describeDollars, describeMonths, describePeople } from './plan-words.ts';
import { readPrice } from './typed-price.ts';

interface TextFieldProps {
  label: string;
  name: string;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}

export function PlanNameField({ label, name, value, error, onChange }: TextFieldProps) {
  return (
    <TextInput
      label={label}
      name={name}
      autoComplete="off"
      placeholder="Family Shield"
      required
      withAsterisk={false}
      size="md"
      maxLength={PLAN_NAME_LENGTH_MAXIMUM}
      value={value}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

const STEP_CENTS = 1;

/** The price moved by steps of one cent; an empty field starts at 0. */
function stepped(value: string, steps: number): string | undefined {
  const price = readPrice(value);
  if (price.kind === 'unclear') return undefined;
  const cents = Math.round((price.kind === 'price' ? price.price : 0) * 100) + steps * STEP_CENTS;
  return String(Math.min(Math.max(cents, 0), PRICE_MAXIMUM * 100) / 100);
}

/** A price with point or comma, as text, because a number field would drop the comma of 9,99. The parsed value is shown beneath. */
export function PriceField({ label, name, value, error, onChange }: TextFieldProps) {
  const price = readPrice(value);
  return (
    <TextInput
      label={label}
      name={name}
      inputMode="decimal"
      autoComplete="off"
      role="spinbutton"
      step={0.01}
      aria-valuemin={0}
      aria-valuemax={PRICE_MAXIMUM}
      {...(price.kind === 'price' ? { 'aria-valuenow': price.price, 'aria-valuetext': describeDollars(price.price) } : {})}
      description={
        <span aria-live="polite">
          {price.kind === 'price'
            ? `${describeDollars(price.price)}.`
            : price.kind === 'unclear'
              ? price.sentence
              : 'In US dollars, for example 9.99.'}
        </span>
      }
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      onKeyDown={(event) => {
        const next = event.key === 'ArrowUp' ? stepped(value, 1) : event.key === 'ArrowDown' ? stepped(value, -1) : undefined;
        if (next === undefined) return;
        event.preventDefault();
        onChange(next);
      }}
      required
      withAsterisk={false}
      size="md"
      leftSection="$"
      value={value}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

interface PlanFieldsProps {
  draft: PlanDraft;
  durations: readonly number[];
  messages: FieldMessages;
  onChange: (change: Partial<PlanDraft>) => void;
}

type LimitChoiceProps = Omit<PlanFieldsProps, 'durations'> & {
  label: string;
  name: 'max_devices' | 'max_web_devices' | 'max_profiles';
  description?: string;
  describe?: (count: number) => string;
};

function LimitChoice({ label, name, description, draft, messages, onChange, describe = describeDevices }: LimitChoiceProps) {
  return (
    <Choice
      label={label}
      name={name}
      description={description}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      size="md"
      data={MAX_DEVICES_OPTIONS.map((count) => ({
        value: String(count),
        label: count === UNLIMITED_DEVICES ? 'Unlimited' : describe(count),
      }))}
      value={draft[name]}
      error={messages[name]}
      onChange={(event) => onChange({ [name]: event.currentTarget.value })}
    />
  );
}

/** Fields of a plan in both forms: term, devices, premium and features. */
export function PlanFields({ draft, durations, messages, onChange }: PlanFieldsProps) {
  return (
    <>
      <Grid columns="fit-m" gap="4" align="start">
        <Choice
          label="Duration"
          name="duration_months"
          size="md"
          data={durations.map((months) => ({ value: String(months), label: describeMonths(months) }))}
          value={draft.duration_months}
          error={messages['duration_months']}
          onChange={(event) => onChange({ duration_months: event.currentTarget.value })}
        />
        <LimitChoice
          label="Max Devices"
          name="max_devices"
          description="Computers with the Palisade program."
          {...{ draft, messages, onChange }}
        />
      </Grid>
      <Grid columns="fit-m" gap="4" align="start">
        <LimitChoice
          label="Devices with web protection"
          name="max_web_devices"
          description="Phones, browsers, routers, and others."
          {...{ draft, messages, onChange }}
        />
        <LimitChoice label="Profiles at home" name="max_profiles" describe={describePeople} {...{ draft, messages, onChange }} />
      </Grid>
      <Check
        name="is_premium"
        label="Premium (Anti-Hacking Tools)"
        checked={draft.is_premium}
        onChange={(event) => onChange({ is_premium: event.currentTarget.checked })}
      />
      <FeaturesField draft={draft} error={messages['features']} onChange={onChange} />
    </>
  );
}
